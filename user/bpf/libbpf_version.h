/* SPDX-License-Identifier: MIT */
/* Which libbpf this program runs with. */
#ifndef SKYOBSERVE_BPF_LIBBPF_VERSION_H
#define SKYOBSERVE_BPF_LIBBPF_VERSION_H

/* "v1.1"; constant. */
const char *libbpf_version_text(void);

#endif /* SKYOBSERVE_BPF_LIBBPF_VERSION_H */

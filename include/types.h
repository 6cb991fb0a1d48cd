/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Fixed-width types on both sides of the border.
 *
 * BPF programs get them from vmlinux.h, which must come first there; everybody else gets the same
 * names with the same base types (u64 is `unsigned long long` on every architecture, so %llu
 * prints it everywhere).
 */
#ifndef SKYOBSERVE_TYPES_H
#define SKYOBSERVE_TYPES_H

#ifndef __VMLINUX_H__
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
#endif

#define NS_PER_SEC 1000000000ULL
#define NS_PER_MS  1000000ULL

#endif /* SKYOBSERVE_TYPES_H */

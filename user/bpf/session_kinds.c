/* SPDX-License-Identifier: MIT */
/* Kinds of interactions and connections of a session: begun, and forgotten with their process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/bpf/session_impl.h"

int session_set_up_kinds(struct bpf_session *s, const struct bpf_session_config *config,
			 struct err *err)
{
	const struct routes *routes = config->routes;

	for (u32 i = 0; routes && i < routes->nr_states; i++)
		*(struct route_state *)session_element(s, MAP_route_states, i) = routes->states[i];
	for (u32 i = 0; routes && i < routes->n; i++)
		*(struct route_name *)session_element(s, MAP_route_names, i) = routes->names[i];
	for (u32 i = 0; i < config->nr_functions && s->groups[GROUP_FUNCTIONS].up; i++)
		*(struct route_name *)session_element(s, MAP_function_names, i) =
			config->functions[i];
	for (u32 i = 0; i < config->nr_goods; i++) {
		const struct good_kind *good = &config->goods[i];

		*(struct good_rule *)session_element(s, MAP_good_rules, i) = good->rule;
		if (bpf_map_update_elem(s->maps[MAP_good_kinds].fd, &good->kind, &i, BPF_NOEXIST))
			return err_set(err, -errno, "cannot note the rule for %s: %s",
				       good->kind.name, strerror(errno));
	}
	return 0;
}

static int add_kind(struct bpf_session *s, u32 slot, const char *name)
{
	struct kind_key key = { .process = slot };
	u32 account;

	snprintf(key.name, sizeof(key.name), "%s", name);
	if (bpf_map_lookup_and_delete_elem(s->maps[MAP_free_kinds].fd, NULL, &account))
		return -ENOSPC;
	if (!bpf_map_update_elem(s->maps[MAP_kinds].fd, &key, &account, BPF_NOEXIST))
		return 0;
	(void)bpf_map_update_elem(s->maps[MAP_free_kinds].fd, NULL, &account, BPF_ANY);
	return -EEXIST;
}

int bpf_session_set_owner(struct bpf_session *s, u32 slot, const struct owner_how *how,
			  struct err *err)
{
	struct process_cell *p = session_element(s, MAP_processes, slot);
	int r;

	if (!p || !p->tgid || !s->groups[GROUP_INTERACTIONS].up)
		return err_set(err, -EINVAL, "interactions are not looked for");
	r = add_kind(s, slot, OTHER_KIND);
	if (r && r != -EEXIST)
		return err_set(err, r, "too many kinds of interactions (%u)", s->bounds.max_kinds);
	if (how->mode == OWNER_GO)
		(void)__atomic_fetch_or(&p->flags, PROCESS_GOROUTINES, __ATOMIC_RELAXED);
	p->owner.g_m = how->g_m;
	p->owner.m_g0 = how->m_g0;
	p->owner.m_curg = how->m_curg;
	p->owner.g_goid = how->g_goid;
	p->owner.g_status = how->g_status;
	__atomic_store_n(&p->owner.mode, how->mode, __ATOMIC_RELEASE);
	return 0;
}

static void release_account(struct bpf_session *s, u32 account)
{
	u32 i = account - s->bounds.max_processes;

	session_clear_lanes(s, MAP_cells, account, session_accounts(s));
	session_clear_lanes(s, MAP_calls, s->named + i, session_call_accounts(s));
	session_clear_lanes(s, MAP_kind_hists, i, s->bounds.max_kinds);
	session_release_keys(s, MAP_codes, sizeof(struct code_key), account);
	session_release_keys(s, MAP_foreign_calls, sizeof(struct foreign_key), account);
	(void)bpf_map_update_elem(s->maps[MAP_free_kinds].fd, NULL, &account, BPF_ANY);
}

static void release_flows(struct bpf_session *s, u32 slot)
{
	for (u32 i = 0; i < s->bounds.max_flows; i++) {
		struct flow *f = session_element(s, MAP_flows, i);
		struct owner_key key = { 0 };
		u64 inode;

		if (!f || !f->inode || f->process != slot)
			continue;
		inode = f->inode;
		key.owner = f->owner;
		key.tgid = f->tgid;
		if (f->owner)
			(void)bpf_map_delete_elem(s->maps[MAP_owner_flows].fd, &key);
		(void)bpf_map_delete_elem(s->maps[MAP_flow_slots].fd, &inode);
		f->inode = 0;
		(void)bpf_map_update_elem(s->maps[MAP_free_flows].fd, NULL, &i, BPF_ANY);
	}
}

void session_release_kinds(struct bpf_session *s, u32 slot)
{
	struct kind_key key, next;
	int fd = s->maps[MAP_kinds].fd;
	bool more;

	if (fd < 0 || !s->groups[GROUP_INTERACTIONS].up)
		return;
	release_flows(s, slot);
	more = !bpf_map_get_next_key(fd, NULL, &key);
	for (u32 i = 0; more && i < s->bounds.max_kinds; i++) {
		u32 account;

		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.process == slot && !bpf_map_lookup_elem(fd, &key, &account)) {
			(void)bpf_map_delete_elem(fd, &key);
			release_account(s, account);
		}
		key = next;
	}
}

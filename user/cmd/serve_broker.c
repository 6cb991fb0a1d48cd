/* SPDX-License-Identifier: MIT */
/* From the command line to a broker, or none. */
#include "user/cmd/serve_broker.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/cmd/serve_privilege.h"
#include "user/model/store.h"
#include "user/proc/sysinfo.h"

bool serve_targets_come(const struct options *o)
{
	return o->comms.n || o->exes.n || o->cgroups.n || o->all || o->follow;
}

void serve_wanted(const struct options *o, struct look_wanted *ret_wanted)
{
	*ret_wanted = (struct look_wanted){ .comms = { o->comms.word, o->comms.n },
					    .exes = { o->exes.word, o->exes.n },
					    .cgroups = { o->cgroups.word, o->cgroups.n } };
}

int serve_start_broker(const struct options *options, u32 groups, struct broker_client **ret_client,
		       struct err *err)
{
	/* Files are read for both; of the whole machine only if somebody asks for it. */
	bool go =
		(groups & 1u << GROUP_INTERACTIONS) || ((groups & 1u << GROUP_GO) && !options->all);
	bool comes = serve_targets_come(options);
	struct broker_config config = { .max_go = go ? options->max_processes : 0 };

	/* A record says whom its targets are connected to, at the end too. */
	bool looks = !strcmp(options->command, "record");
	struct store store;

	if (!go && !comes && !looks && !sysinfo_proc_hides(""))
		return 0;
	privilege_choose_user(getenv("SUDO_UID"), getenv("SUDO_GID"), &config.user);
	serve_wanted(options, &config.wanted);
	config.counts_sent = looks;
	if (options->expect_store && store_parse(options->expect_store, &store))
		config.store_path = store.path;
	config.capabilities = CAPABILITY(CAP_SYS_PTRACE);
	/* Their memory, their calls in flight, and their files are for their own user only. */
	if (go || comes || looks)
		config.capabilities |= CAPABILITY(CAP_DAC_READ_SEARCH);
	return broker_start(&config, ret_client, err);
}

void serve_say_broker(const struct broker_client *client)
{
	const struct broker_hello *hello;
	char names[96];

	if (!client)
		return;
	hello = broker_client_hello(client);
	serve_capability_names(hello->capabilities, names, sizeof(names));
	log_info("broker: process %d, user id %u, capabilities%s", (int)broker_client_pid(client),
		 hello->uid, names[0] ? names : " none");
	if (!hello->calls_limited)
		log_warn("broker: this kernel cannot limit its system calls");
}

void serve_broker_ended(struct broker_client *client)
{
	broker_client_reap(client);
	if (broker_client_trouble(client))
		log_warn("the broker: %s; from now on nothing is read of Go programs, nor the "
			 "executables of other users' processes that come",
			 broker_client_trouble(client));
}

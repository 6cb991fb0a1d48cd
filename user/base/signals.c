/* SPDX-License-Identifier: MIT */
/* Which signals a helper process does not heed. */
#include "user/base/signals.h"

#include <signal.h>
#include <stddef.h>

void signals_leave_to_parent(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t none;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)signal(signals[i], SIG_IGN);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

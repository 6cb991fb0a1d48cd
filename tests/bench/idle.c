/* SPDX-License-Identifier: MIT */
/*
 * N processes that do nothing, all of one name, or each of a name of its own: the worst case of a
 * scrape of the whole machine, where processes of one name share their series. Prints "ready"; they
 * end with its input.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void idle(unsigned long i, const char *same_name, int parent)
{
	char name[16];

	if (same_name)
		(void)snprintf(name, sizeof(name), "%s", same_name);
	else
		(void)snprintf(name, sizeof(name), "idle%05lu", i % 100000);
	if (prctl(PR_SET_NAME, name) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 2 || argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	int parent = getpid();
	char line[16];

	if (!n) {
		fprintf(stderr, "usage: idle N [NAME]\n");
		return 64;
	}
	for (unsigned long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			idle(i, argc == 3 ? argv[2] : NULL, parent);
		if (pid < 0) {
			perror("fork");
			return 1;
		}
	}
	puts("ready");
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0; /* PR_SET_PDEATHSIG ends the others */
}

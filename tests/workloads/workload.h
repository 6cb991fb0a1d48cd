/* SPDX-License-Identifier: MIT */
/*
 * What every workload shares: options, the protocol with the test that started it, a tally of each
 * system call made, threads whose calls are all known, and the one line of JSON that tells the
 * truth.
 *
 * It must not know any observer. These are headers with code in them, against the style of the rest
 * of the tree, because a workload is one file and one program: nothing else is linked into it.
 *
 * The protocol:
 *
 *   workload                                    test
 *   set up (files, threads, helpers)
 *   write "ready PID[ PID...]\n" to stdout  ->  attach the observer, take the first snapshot
 *   read a line from stdin (or EOF)         <-  write "go\n"
 *   THE WINDOW: do the work
 *   write one line of JSON to stdout        ->  take the last snapshot, compare
 *   read a line from stdin (or EOF)         <-  close
 *   exit                                        (--exit: the workload exits without that last read)
 *
 * The window is what happens after the read of the release has returned and before the write of the
 * JSON begins. In the JSON:
 *
 *   "syscalls"        each call, by name, that returned inside the window, and calls that never
 *                     return (exit); nothing else was called, by any thread of the process
 *   "errors"          how many of them failed, by call and errno
 *   "interrupted"     how many of them failed with EINTR: in these workloads always a call that the
 *                     kernel left with a restart code, which became EINTR on the way back
 *   "entered_before"  those of "syscalls" that a thread had entered before the window began
 *   "protocol"        what the protocol adds when one counts from "ready" to the end of the JSON:
 *                     reads that returned (the release) and writes (the JSON)
 *
 * So that this is exact, the measured part uses no stdio, no malloc and no threads of libc: each
 * call goes through WL() of wl_call.h, straight to the kernel, also those clocks that the vDSO
 * would answer. Before "ready" anything is allowed.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WORKLOAD_H
#define SKYOBSERVE_TESTS_WORKLOADS_WORKLOAD_H

#include "wl_call.h"
#include "wl_clock.h"
#include "wl_task.h"
#include "wl_truth.h"

#endif

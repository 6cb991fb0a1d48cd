/* SPDX-License-Identifier: MIT */
/*
 * From an observer to the file of a record: the two edges, the series between them, and under which
 * conditions. Frames are written as they are taken, so that a crash costs the end of the file only.
 */
#ifndef SKYOBSERVE_CMD_RECORDER_H
#define SKYOBSERVE_CMD_RECORDER_H

#include "user/broker/client.h"
#include "user/cmd/observer.h"
#include "user/cmd/options.h"
#include "user/model/record.h"

struct recorder;

/* Make the file; nothing is observed yet. Returns 0 or a negative errno with @err. */
int recorder_open(const struct options *options, u64 duration_ns, struct recorder **ret_recorder,
		  struct err *err);

/* Facts that the caller knows: of the selftest. */
struct record *recorder_facts(struct recorder *rec);

/*
 * For a profile that is fetched meanwhile: a descriptor that is readable when there is something to
 * do (-1: none), and what to do then; true when it is over. A window may not end before.
 */
int recorder_profile_fd(const struct recorder *rec);
bool recorder_profile_step(struct recorder *rec);
bool recorder_may_end(const struct recorder *rec);

/* What was asked for, 0: until something else ends it. */
u64 recorder_duration_ns(const struct recorder *rec);

/*
 * While all may still be read: who the targets are, and the machine; and start the canary. Both may
 * be called once, in either order: a program that is started is at its beginning before anybody can
 * say what it executes. recorder_begin takes the first edge.
 */
int recorder_prepare(struct recorder *rec, struct observer *o, struct broker_client *broker,
		     struct err *err);
int recorder_begin(struct recorder *rec, struct observer *o, struct err *err);

/* Take a snapshot if a profile of a target began or ended; for a timer of some milliseconds. */
void recorder_refresh(struct recorder *rec, struct observer *o);

/* A frame in between, unless room for the end would run out. Once per interval. */
void recorder_step(struct recorder *rec, struct observer *o);

/*
 * Take the last edge, write the end, and say on stderr what came out. @program_status is that of
 * the program that was started, or -1. Returns EXIT_GOOD, EXIT_INVALID, or EXIT_FAILED: the file is
 * not whole.
 */
int recorder_end(struct recorder *rec, struct observer *o, enum record_end end, int program_status);

/* Removes the file if recording never began. NULL is fine. */
void recorder_free(struct recorder *rec);

#endif /* SKYOBSERVE_CMD_RECORDER_H */

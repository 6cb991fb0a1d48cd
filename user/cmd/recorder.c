/* SPDX-License-Identifier: MIT */
/* Recording: edges, series, conditions, and the file. */
#include "user/cmd/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/canary.h"
#include "user/cmd/empty_call.h"
#include "user/cmd/fetch.h"
#include "user/cmd/output_file.h"
#include "user/cmd/recorder_profiles.h"
#include "user/cmd/recorder_targets.h"
#include "user/cmd/targets.h"
#include "user/cmd/version.h"
#include "user/model/gates.h"
#include "user/proc/conditions.h"
#include "user/record/record_file.h"
#include "user/render/paper.h"

/* A snapshot in which we were interrupted is taken again, this often at most. */
#define EDGE_TRIES   5
#define EDGE_GOOD_NS (1 * NS_PER_MS)

/* From so many frames on only every second one is written, and so on: a window may last for days.
 */
#define FRAMES_BEFORE_THINNING 256

struct recorder {
	const struct options *options;
	struct canary *canary;
	struct fetch *fetch; /* NULL: no profile is fetched */
	char *profile_path;  /* where to, with it */
	struct recorder_targets targets;
	struct recorder_profiles profiles;
	struct record record;	/* its facts, and its first and last frame */
	struct record at_begin; /* conditions that change, at the first edge */
	struct record_writer writer;
	int fd;
	bool begun;
	int failed; /* a negative errno: the file could not be written */
	u64 duration_ns;
	u32 steps, every; /* intervals, and of how many one is written */
	bool full;
};

int recorder_open(const struct options *options, u64 duration_ns, struct recorder **ret_recorder,
		  struct err *err)
{
	struct recorder *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return err_set(err, -ENOMEM, "no memory for a record");
	rec->options = options;
	rec->duration_ns = duration_ns;
	rec->every = 1;
	rec->record = (struct record){ .version = SKYOBSERVE_VERSION,
				       .wanted_ns = duration_ns,
				       .interval_ns = options->interval_seconds * NS_PER_SEC,
				       .program_status = -1 };
	rec->fd = output_file_create(options->output, err);
	if (rec->fd < 0) {
		int r = rec->fd;

		free(rec);
		return r;
	}
	*ret_recorder = rec;
	return 0;
}

/* The file beside the record, and the child that will fill it. */
static int prepare_profile(struct recorder *rec, struct err *err)
{
	const struct options *o = rec->options;
	size_t room = strlen(o->output) + sizeof(".pb.gz");
	int fd, r;

	rec->profile_path = malloc(room);
	if (!rec->profile_path)
		return err_set(err, -ENOMEM, "no memory for the profile's name");
	snprintf(rec->profile_path, room, "%s.pb.gz", o->output);
	fd = output_file_create(rec->profile_path, err);
	if (fd < 0) {
		free(rec->profile_path);
		rec->profile_path = NULL; /* it is not ours to remove */
		return fd;
	}
	r = fetch_prepare(o->profiles.word[0], rec->duration_ns / NS_PER_SEC, fd, &rec->fetch, err);
	close(fd);
	return r;
}

void recorder_free(struct recorder *rec)
{
	if (!rec)
		return;
	close(rec->fd);
	if (!rec->begun)
		output_file_remove(rec->options->output);
	if (!rec->begun && rec->profile_path)
		output_file_remove(rec->profile_path);
	free(rec->profile_path);
	fetch_free(rec->fetch);
	canary_free(rec->canary);
	record_done(&rec->record);
	record_done(&rec->at_begin);
	free(rec);
}

struct record *recorder_facts(struct recorder *rec)
{
	return &rec->record;
}

u64 recorder_duration_ns(const struct recorder *rec)
{
	return rec->duration_ns;
}

int recorder_profile_fd(const struct recorder *rec)
{
	return rec->fetch && !fetch_is_over(rec->fetch) ? fetch_fd(rec->fetch) : -1;
}

bool recorder_profile_step(struct recorder *rec)
{
	return fetch_step(rec->fetch);
}

bool recorder_may_end(const struct recorder *rec)
{
	return !rec->fetch || fetch_is_over(rec->fetch);
}

/* --- the file --- */

/* Write what is in @out; the first failure is said, and is the last that is written. */
static void put(struct recorder *rec, int made, struct buf *out)
{
	bool too_large = made == -EFBIG;

	if (!made && !rec->failed)
		made = output_file_write(rec->fd, out);
	if (made && !rec->failed) {
		rec->failed = made;
		log_error("record: %s: %s; what is in it is cut off", rec->options->output,
			  too_large ? "it would be larger than a record may be" : strerror(-made));
	}
	buf_done(out);
}

static void put_frame(struct recorder *rec, const struct record_frame *f)
{
	struct buf out = { 0 };

	put(rec, record_write_frame(&rec->writer, f, &out), &out);
}

static void put_facts(struct recorder *rec)
{
	struct buf out = { 0 };

	put(rec, record_write_facts(&rec->writer, &rec->record, &out), &out);
}

/* --- edges --- */

/* The narrowest of some snapshots. */
static int take_edge(struct observer *o, struct record_frame *ret_frame, struct err *err)
{
	struct record_frame best = { 0 };

	for (int i = 0; i < EDGE_TRIES; i++) {
		struct record_frame f = { 0 };
		int r = observer_frame(o, &f, err);

		if (r) {
			family_set_done(&f.set);
			family_set_done(&best.set);
			return r;
		}
		if (i && f.end_ns - f.begin_ns >= best.end_ns - best.begin_ns) {
			family_set_done(&f.set);
		} else {
			family_set_done(&best.set);
			best = f;
		}
		if (best.end_ns - best.begin_ns <= EDGE_GOOD_NS)
			break;
	}
	*ret_frame = best;
	return 0;
}

static int add_edge(struct recorder *rec, struct observer *o, struct err *err)
{
	struct record_frame f, *place;
	int r = take_edge(o, &f, err);

	if (r)
		return r;
	place = record_frame_add(&rec->record);
	if (!place) {
		family_set_done(&f.set);
		return err_set(err, -ENOMEM, "no memory for a record");
	}
	*place = f;
	put_frame(rec, place);
	return 0;
}

static void set_asked_interactions(const struct words *words, struct record *r)
{
	struct buf all = { 0 };

	for (size_t i = 0; i < words->n; i++)
		buf_printf(&all, "%s%s", i ? " " : "", words->word[i]);
	record_fact_set(r, "asked.interaction", all.bytes ? all.bytes : "none", NULL);
	buf_done(&all);
}

static void set_asked(const struct options *o, struct record *r)
{
	record_fact_set(r, "asked.isolated", o->isolated ? "yes" : "no", NULL);
	record_fact_set(r, "asked.follow", o->follow ? "yes" : "no", NULL);
	record_fact_set(r, "asked.all", o->all ? "yes" : "no", NULL);
	record_fact_set(r, "asked.all_syscalls", o->all_syscalls ? "yes" : "no", NULL);
	set_asked_interactions(&o->interactions, r);
	if (o->expect_store)
		record_fact_set(r, "asked.store", o->expect_store, NULL);
	record_fact_set(r, "asked.groups", o->groups ? o->groups : "all", NULL);
	if (o->program) /* arguments may be secret */
		record_fact_set(r, "asked.program", o->program[0], NULL);
}

int recorder_prepare(struct recorder *rec, struct observer *o, struct broker_client *broker,
		     struct err *err)
{
	set_asked(rec->options, &rec->record);
	conditions_machine("", &rec->record);
	recorder_targets_begin(&rec->targets, rec->options, o, broker, &rec->record);
	/* A program that was started is not kept waiting for it. */
	record_fact_setf(&rec->record, "machine.empty_call_ns", "%llu", empty_call_ns());
	if (rec->options->profiles.n) {
		int r = prepare_profile(rec, err);

		if (r)
			return r;
	}
	return canary_start(&rec->canary, err);
}

int recorder_begin(struct recorder *rec, struct observer *o, struct err *err)
{
	struct buf out = { 0 };
	int r;

	rec->begun = true;
	put(rec, record_write_head(&rec->writer, &rec->record, &out), &out);
	put_facts(rec);
	conditions_now("", &rec->at_begin);
	(void)recorder_profiles_look(&rec->profiles, o); /* those that are over are not ours */
	r = add_edge(rec, o, err);
	if (!r && rec->failed)
		r = err_set(err, rec->failed, "the record cannot be written");
	if (r)
		return r;
	if (rec->fetch)
		fetch_go(rec->fetch);
	log_info("recording to %s", rec->options->output);
	return 0;
}

void recorder_step(struct recorder *rec, struct observer *o)
{
	struct record_frame f = { 0 };
	struct err err = { { 0 } };

	if (rec->canary)
		canary_poll(rec->canary);
	if (rec->writer.nr_frames >= FRAMES_BEFORE_THINNING + 64 * rec->every)
		rec->every *= 2;
	if (++rec->steps % rec->every || rec->failed)
		return;
	if (!record_writer_has_room(&rec->writer)) {
		if (!rec->full)
			log_warn("record: no room for more snapshots in between; the last one "
				 "will be in it");
		rec->full = true;
		return;
	}
	if (observer_frame(o, &f, &err))
		log_warn_once("record: a snapshot in between failed: %s", err.text);
	else
		put_frame(rec, &f);
	family_set_done(&f.set);
}

void recorder_refresh(struct recorder *rec, struct observer *o)
{
	struct record_frame f = { 0 };

	/* What was spent in a profile is known if there is a snapshot near to each of its edges. */
	if (!rec->begun || !recorder_profiles_look(&rec->profiles, o) || rec->failed ||
	    !record_writer_has_room(&rec->writer))
		return;
	if (!observer_frame(o, &f, NULL))
		put_frame(rec, &f);
	family_set_done(&f.set);
}

/* --- the end --- */

/* Conditions that change, each with its value at both edges. */
static void join_conditions(struct record *r, const struct record *begin, const struct record *end)
{
	for (size_t i = 0; i < begin->nr_facts; i++) {
		const struct record_fact *fact = &begin->facts[i];

		record_fact_set(r, fact->name, fact->begin, record_fact_text(end, fact->name));
	}
	r->failed |= begin->failed || end->failed;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void set_profile(struct recorder *rec)
{
	struct record *r = &rec->record;

	if (!rec->fetch)
		return;
	record_fact_set(r, "profile.url", fetch_url(rec->fetch), NULL);
	record_fact_set(r, "profile.file", base_name(rec->profile_path), NULL);
	record_fact_set(r, "profile.state", fetch_state(rec->fetch), NULL);
	record_fact_setf(r, "profile.begin_ns", "%llu", fetch_begin_ns(rec->fetch));
	record_fact_setf(r, "profile.end_ns", "%llu", fetch_end_ns(rec->fetch));
}

static void set_canary(struct recorder *rec)
{
	const struct record *r = &rec->record;
	struct canary_result result;

	if (!rec->canary ||
	    !canary_result(rec->canary, r->frames[0].begin_ns, r->frames[1].end_ns, &result))
		return;
	record_fact_setf(&rec->record, "canary.loops", "%llu", result.loops);
	record_fact_setf(&rec->record, "canary.mean_ns", "%llu", result.mean_ns);
	record_fact_setf(&rec->record, "canary.cpu_ns", "%llu", result.cpu_ns);
	record_fact_setf(&rec->record, "canary.spread_permille", "%llu", result.spread_permille);
	record_fact_setf(&rec->record, "canary.drift_permille", "%llu", result.drift_permille);
}

static void say_gates(const struct gate gates[NR_GATES])
{
	for (u32 i = 0; i < NR_GATES; i++) {
		char text[sizeof(gates[i].text)];
		struct buf clean = { 0 };

		snprintf(text, sizeof(text), "%s", gates[i].text);
		paper_clean(text, &clean);
		if (gates[i].state == GATE_INVALID)
			log_error("record: INVALID: %s: %s", gate_names[i],
				  clean.bytes ? clean.bytes : "");
		else if (gates[i].state == GATE_WARNS)
			log_warn("record: %s: %s", gate_names[i], clean.bytes ? clean.bytes : "");
		buf_done(&clean);
	}
}

static int say_result(const struct recorder *rec)
{
	char window[HUMAN_WIDTH], size[HUMAN_WIDTH];
	struct gate gates[NR_GATES];
	u32 invalid;

	gates_of(&rec->record, gates);
	invalid = gates_invalid(gates);
	say_gates(gates);
	if (rec->failed)
		return EXIT_FAILED;
	human_duration(record_window_ns(&rec->record), window);
	human_bytes((double)rec->writer.file_bytes, size);
	log_info("record: %s: %s, ended by %s; %u snapshots, %s%s", rec->options->output, window,
		 record_end_words[rec->record.end], rec->writer.nr_frames, size,
		 invalid ? "; INVALID" : "");
	return invalid ? EXIT_INVALID : EXIT_GOOD;
}

int recorder_end(struct recorder *rec, struct observer *o, enum record_end end, int program_status)
{
	struct record at_end = { 0 };
	struct err err = { { 0 } };
	struct buf out = { 0 };

	observer_name_all(o);
	if (add_edge(rec, o, &err)) {
		log_error("record: %s: the last snapshot failed: %s; what is in it is cut off",
			  rec->options->output, err.text);
		return EXIT_FAILED;
	}
	recorder_profiles_end(&rec->profiles, o, &rec->record);
	conditions_now("", &at_end);
	join_conditions(&rec->record, &rec->at_begin, &at_end);
	record_done(&at_end);
	recorder_targets_end(&rec->targets, &rec->record);
	set_canary(rec);
	set_profile(rec);
	rec->record.end = end;
	rec->record.program_status = program_status;
	put_facts(rec);
	put(rec, record_write_end(&rec->writer, &rec->record, &out), &out);
	return say_result(rec);
}

/* SPDX-License-Identifier: MIT */
/*
 * A record: what was published during a window, as one plain value. Its file is described in
 * docs/RECORD.md; user/record/ writes and reads it. Pure: nothing here knows a file or /proc.
 *
 * The first frame is the beginning of the window and the last one its end; a quantity of the window
 * is the difference between the two. Frames between them are the series.
 */
#ifndef SKYOBSERVE_MODEL_RECORD_H
#define SKYOBSERVE_MODEL_RECORD_H

#include "user/model/family.h"

/* What ended a window. The number is in the file: append only. */
enum record_end {
	RECORD_END_DURATION, /* as long as was asked for */
	RECORD_END_PROGRAM,  /* the program that was started ended */
	RECORD_END_TARGETS,  /* the last target ended before the window did */
	RECORD_END_SIGNAL,   /* somebody stopped it */
	NR_RECORD_ENDS
};

/* In words: "the duration that was asked for". */
extern const char *const record_end_words[NR_RECORD_ENDS];

/*
 * A fact of the run, under a dotted name ("machine.kernel"). @end is NULL for what cannot change in
 * the window; else @begin and @end are the same thing, read at both edges. Any bytes.
 */
struct record_fact {
	const char *name, *begin, *end;
};

/* All metrics of a moment: everything was read between begin_ns and end_ns (monotonic). */
struct record_frame {
	u64 begin_ns, end_ns;
	u64 wall_ns; /* Unix time at begin_ns */
	struct family_set set;
};

struct record {
	const char *version; /* of the skyobserve that wrote it */
	u64 interval_ns;     /* between frames, as asked for; longer where room would run out */
	u64 wanted_ns;	     /* the duration that was asked for; 0: none */
	enum record_end end;
	s32 program_status; /* of the program that was started, -1: none, or not ended */
	struct record_fact *facts;
	size_t nr_facts, cap_facts;
	struct record_frame *frames;
	size_t nr_frames, cap_frames;
	u32 unknown_families; /* in the file, of a newer skyobserve: left out */
	struct arena arena;   /* texts of the facts */
	bool failed;	      /* memory ran out */
};

void record_done(struct record *r);

/*
 * Set a fact, in place of one of that name if there is one. @end may be NULL. Texts are copied;
 * what cannot be kept is in r->failed.
 */
void record_fact_set(struct record *r, const char *name, const char *begin, const char *end);
/* A fact that does not change, as text of at most 4,095 bytes. */
void record_fact_setf(struct record *r, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The fact of that name, or NULL. */
const struct record_fact *record_fact(const struct record *r, const char *name);
/* Its text at the beginning, or "". */
const char *record_fact_text(const struct record *r, const char *name);
/* It as a number at the beginning, or at the end of the window. False: absent, or no number. */
bool record_fact_number(const struct record *r, const char *name, u64 *ret_number);
bool record_fact_number_at_end(const struct record *r, const char *name, u64 *ret_number);
/* How much it grew in the window. False: absent, no numbers, or it went down. */
bool record_fact_delta(const struct record *r, const char *name, u64 *ret_delta);

/* A new, empty frame at the end, or NULL (then r->failed is set). Earlier pointers become stale. */
struct record_frame *record_frame_add(struct record *r);
/* Drop frame @i; those behind it move up. */
void record_frame_drop(struct record *r, size_t i);

/* The edges; a record has at least two frames (record_read refuses others). */
const struct family_set *record_begin(const struct record *r);
const struct family_set *record_end(const struct record *r);
/* From the middle of the first frame to the middle of the last one. */
u64 record_window_ns(const struct record *r);

/* --- samples by name and labels --- */

/* The family of a full name ("skyobserve_cpu_seconds", with or without _total), or NR_FAMILIES. */
enum family_id record_family(const char *name);

/* The value of a label, or NULL. */
const char *record_label(const struct sample *s, const char *name);
/* Whether @s has all @n labels, perhaps more. */
bool sample_matches(const struct sample *s, const struct label *labels, size_t n);
/* Whether both have the same labels, in the same order. */
bool sample_same_labels(const struct sample *a, const struct sample *b);

/* The first sample of @id that has all @n labels, or NULL. */
const struct sample *record_find(const struct family_set *set, enum family_id id,
				 const struct label *labels, size_t n);
/* The sample of @set with the same labels as @s, or NULL. */
const struct sample *record_twin(const struct family_set *set, enum family_id id,
				 const struct sample *s);

/*
 * The sum over all samples of @id that have these labels, in the unit of the sample: ns for times,
 * else counts or bytes (real numbers are left out). *ret_found is how many there are; 0: it was not
 * measured.
 */
u64 record_sum(const struct family_set *set, enum family_id id, const struct label *labels,
	       size_t n, size_t *ret_found);

/*
 * The growth of a counter's sum over the window. 0; -ENOENT: it is not there at the end, so it was
 * not measured; -EBADMSG: a series of it went down, or vanished. A series that is not there at the
 * beginning began in the window, with 0.
 */
int record_delta(const struct record *r, enum family_id id, const struct label *labels, size_t n,
		 u64 *ret_delta);

/* The same for one series, given as its sample at the end. Histograms: record_delta_hist. */
int record_delta_sample(const struct record *r, enum family_id id, const struct sample *at_end,
			u64 *ret_delta);
int record_delta_hist(const struct record *r, enum family_id id, const struct sample *at_end,
		      struct hist *ret_hist);

#endif /* SKYOBSERVE_MODEL_RECORD_H */

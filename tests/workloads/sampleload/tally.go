// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// Latencies are kept in buckets of 1 % width from 1 us on: bounded memory however long it runs.
const (
	bucketWidth = 1.01
	nBuckets    = 2000 // up to 1 us * 1.01^2000, about 440 s
)

type latencies struct {
	buckets [nBuckets]int64
	n       int64
	max     time.Duration
}

func (l *latencies) add(d time.Duration) {
	i := 0
	if d > time.Microsecond {
		i = int(math.Log(float64(d)/float64(time.Microsecond)) / math.Log(bucketWidth))
	}
	if i >= nBuckets {
		i = nBuckets - 1
	}
	l.buckets[i]++
	l.n++
	if d > l.max {
		l.max = d
	}
}

func (l *latencies) merge(from *latencies) {
	for i, n := range from.buckets {
		l.buckets[i] += n
	}
	l.n += from.n
	if from.max > l.max {
		l.max = from.max
	}
}

// quantile is at most 1 % too high.
func (l *latencies) quantile(q float64) float64 {
	left := int64(math.Ceil(q * float64(l.n)))
	for i, n := range l.buckets {
		if left -= n; left <= 0 {
			return math.Min(1e-6*math.Pow(bucketWidth, float64(i+1)), l.max.Seconds())
		}
	}
	return l.max.Seconds()
}

// tally is the truth that is printed.
type tally struct {
	Requests       map[string]map[string]int64   `json:"requests"` // by kind and status
	Errors         map[string]int64              `json:"errors"`   // no or a broken reply, by kind
	Streams        int64                         `json:"streams"`
	EmptyPatches   int64                         `json:"empty_patches"` // events that changed nothing
	BytesSent      int64                         `json:"bytes_sent"`
	BytesReceived  int64                         `json:"bytes_received"`
	SetupSeconds   float64                       `json:"setup_seconds"`
	WallSeconds    float64                       `json:"wall_seconds"` // from the first request after the setup
	LatencySeconds map[string]map[string]float64 `json:"latency_seconds"`

	latency map[string]*latencies
}

func newTally() *tally {
	return &tally{
		Requests:       make(map[string]map[string]int64),
		Errors:         make(map[string]int64),
		LatencySeconds: make(map[string]map[string]float64),
		latency:        make(map[string]*latencies),
	}
}

// measure makes one request and counts what came of it.
func (t *tally) measure(c *client, what string, request []byte) (reply, error) {
	sent, received, begin := c.sent, c.received, time.Now()
	r, err := c.do(request)
	took := time.Since(begin)
	t.BytesSent += c.sent - sent
	t.BytesReceived += c.received - received
	if err != nil {
		t.Errors[what]++
		time.Sleep(10 * time.Millisecond) // do not spin at a target that is gone
		return r, err
	}
	if t.Requests[what] == nil {
		t.Requests[what] = make(map[string]int64)
		t.latency[what] = new(latencies)
	}
	t.Requests[what][strconv.Itoa(r.status)]++
	t.latency[what].add(took)
	if what == "event" && bytes.Contains(r.body, []byte(`"patches":[]`)) {
		t.EmptyPatches++
	}
	return r, nil
}

func (t *tally) add(from *tally) {
	for what, statuses := range from.Requests {
		if t.Requests[what] == nil {
			t.Requests[what] = make(map[string]int64)
			t.latency[what] = new(latencies)
		}
		for status, n := range statuses {
			t.Requests[what][status] += n
		}
		t.latency[what].merge(from.latency[what])
	}
	for what, n := range from.Errors {
		t.Errors[what] += n
	}
	t.Streams += from.Streams
	t.EmptyPatches += from.EmptyPatches
	t.BytesSent += from.BytesSent
	t.BytesReceived += from.BytesReceived
}

// finish makes the quantiles.
func (t *tally) finish() *tally {
	for what, l := range t.latency {
		t.LatencySeconds[what] = map[string]float64{
			"p50": l.quantile(0.5), "p90": l.quantile(0.9), "p99": l.quantile(0.99), "max": l.max.Seconds(),
		}
	}
	return t
}

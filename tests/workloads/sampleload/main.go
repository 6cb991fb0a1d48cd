// SPDX-License-Identifier: MIT

// Sampleload makes requests to sampleapp and says what it got.
//
// By default it is a closed loop: each connection sends its next request when the last one is
// answered, until -requests are done or -duration is over. With -gentle it keeps a low, steady rate
// (20 events and 50 reads a second) until it is stopped. It opens event streams for its sessions
// and holds them. At the end, also on SIGTERM and SIGINT, it prints one line of JSON: requests by
// kind and status, bytes, latencies and wall time. Requests under way are finished first.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	target      = flag.String("url", "", "address of the target: http://HOST:PORT/")
	connections = flag.Int("connections", 1, "connections of the closed loop")
	requests    = flag.Int64("requests", 0, "end after so many requests (0: no limit)")
	duration    = flag.Duration("duration", 0, "end after so long (0: no limit)")
	kind        = flag.String("kind", "mixed", "healthz, event, metadata or mixed")
	sessions    = flag.Int("sessions", 5, "sessions, each with an open event stream")
	gentle      = flag.Bool("gentle", false, "a low steady rate of a mixture until stopped")
	elements    = flag.Int("elements", -1, "elements of the view of each event (-1: the target's default)")
	fsyncs      = flag.Int("fsyncs", -1, "fsyncs of each event (-1: the target's default)")
	spinMicros  = flag.Int("spin-us", 0, "CPU microseconds that each event burns")
	calls       = flag.Int("calls", 0, "getppid calls of each event")
	bytesEach   = flag.Int("bytes", 0, "bytes that each event allocates")
)

// The mixture, in turn: 2 events, 5 reads of one entry, 1 of many, 2 health checks in ten requests.
var mixture = []string{
	"event", "metadata", "healthz", "metadata", "list", "event", "metadata", "healthz", "metadata", "metadata",
}

// load is what the connections share.
type load struct {
	host     string
	sessions []string
	begun    int64 // requests that were begun; atomic
	stopped  int32 // no more requests; atomic
	stop     chan struct{}
	once     sync.Once
}

func (l *load) end() {
	l.once.Do(func() {
		atomic.StoreInt32(&l.stopped, 1)
		close(l.stop)
	})
}

// request makes the n-th request of a kind.
func (l *load) request(what string, n int64) []byte {
	switch what {
	case "event":
		return l.event(n)
	case "metadata":
		return get(l.host, fmt.Sprintf("/metadata/key-%04d", n*7%2000), "")
	case "list":
		return get(l.host, "/metadata?limit=50", "")
	default:
		return get(l.host, "/healthz", "")
	}
}

func (l *load) event(n int64) []byte {
	body := map[string]interface{}{"session": l.sessions[n%int64(len(l.sessions))], "seq": n, "handler": "increment"}
	if *elements >= 0 {
		body["elements"] = *elements
	}
	if *fsyncs >= 0 {
		body["fsyncs"] = *fsyncs
	}
	for name, value := range map[string]int{"spin_us": *spinMicros, "calls": *calls, "bytes": *bytesEach} {
		if value > 0 {
			body[name] = value
		}
	}
	text, _ := json.Marshal(body)
	return post(l.host, "/_sky/event", text)
}

// what the n-th request of the closed loop is.
func (l *load) what(n int64) string {
	if *kind == "mixed" {
		return mixture[n%int64(len(mixture))]
	}
	return *kind
}

// closedLoop is one connection's work.
func (l *load) closedLoop(c *client, t *tally) {
	for atomic.LoadInt32(&l.stopped) == 0 {
		n := atomic.AddInt64(&l.begun, 1) - 1
		if *requests > 0 && n >= *requests {
			return
		}
		what := l.what(n)
		t.measure(c, what, l.request(what, n))
	}
}

// steady makes one kind of request at a fixed rate.
func (l *load) steady(c *client, t *tally, every time.Duration, kinds ...string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := int64(0); ; n++ {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		what := kinds[n%int64(len(kinds))]
		t.measure(c, what, l.request(what, n))
	}
}

// openSessions gets a page and opens a stream for each session. The streams live until the end.
func (l *load) openSessions(t *tally) error {
	c := newClient(l.host)
	defer c.close()
	for i := 0; i < *sessions; i++ {
		reply, err := t.measure(c, "page", get(l.host, "/", ""))
		if err != nil || reply.status != 200 || reply.cookie == "" {
			return fmt.Errorf("no session from %s: status %d, %v", l.host, reply.status, err)
		}
		cookie := strings.SplitN(reply.cookie, ";", 2)[0]
		l.sessions = append(l.sessions, strings.SplitN(cookie, "=", 2)[1])
		if err := newClient(l.host).openStream(cookie); err != nil {
			return err
		}
		t.Streams++
	}
	return nil
}

func (l *load) run(t *tally) error {
	begin := time.Now()
	if err := l.openSessions(t); err != nil {
		return err
	}
	t.SetupSeconds = time.Since(begin).Seconds()
	var all sync.WaitGroup
	tallies := []*tally{}
	start := func(work func(*client, *tally)) {
		mine := newTally()
		tallies = append(tallies, mine)
		all.Add(1)
		go func() {
			defer all.Done()
			c := newClient(l.host)
			defer c.close()
			work(c, mine)
		}()
	}
	begin = time.Now()
	if *gentle {
		start(func(c *client, t *tally) { l.steady(c, t, 50*time.Millisecond, "event") })
		start(func(c *client, t *tally) { l.steady(c, t, 20*time.Millisecond, "metadata") })
		start(func(c *client, t *tally) { l.steady(c, t, time.Second, "healthz", "list") })
	} else {
		for i := 0; i < *connections; i++ {
			start(l.closedLoop)
		}
	}
	if *duration > 0 {
		time.AfterFunc(*duration, l.end)
	}
	all.Wait()
	t.WallSeconds = time.Since(begin).Seconds()
	for _, mine := range tallies {
		t.add(mine)
	}
	return nil
}

func main() {
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("sampleload: ")
	base, err := url.Parse(*target)
	known := *kind == "mixed" || *kind == "event" || *kind == "metadata" || *kind == "healthz"
	if err != nil || base.Host == "" || !known || *connections < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(64)
	}
	if *sessions < 1 && (*gentle || *kind == "event" || *kind == "mixed") {
		*sessions = 1 // an event needs one
	}
	l := &load{host: base.Host, stop: make(chan struct{})}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		l.end()
		time.Sleep(2 * time.Second)
		log.Fatal("the target did not answer in time")
	}()
	t := newTally()
	if err := l.run(t); err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(t.finish()); err != nil {
		log.Fatal(err)
	}
}

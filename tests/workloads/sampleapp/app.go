// SPDX-License-Identifier: MIT

package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	cookieName    = "sky_session"
	maxEventBytes = 64 << 10
	maxElements   = 10000
	maxSessions   = 4096
	tableEntries  = 2000
	stockElements = 94 // the stock view of the applications that this one stands for
)

// eventRequest is the body of POST /_sky/event. The first three members name the event, the others
// choose what it costs; where one is missing the default holds.
type eventRequest struct {
	Session    string `json:"session"`
	Seq        uint64 `json:"seq"`
	Handler    string `json:"handler"`  // "noop" changes nothing, "reset" replaces all, others count up
	Elements   *int   `json:"elements"` // of the view (94)
	Fsyncs     *int   `json:"fsyncs"`   // 1 with the file store, 0 with the memory store
	SpinMicros int64  `json:"spin_us"`  // of CPU time by the thread's own clock, beside the rendering
	Calls      int    `json:"calls"`    // of getppid, a system call without effect
	Bytes      int    `json:"bytes"`    // to allocate in pieces of 1 KiB, beside the rendering
}

type app struct {
	store *store
	table map[string]interface{}
	keys  []string

	mu       sync.Mutex
	sessions map[string]*session
}

// session is what one browser sees. Its events run one after the other.
type session struct {
	id    string
	mu    sync.Mutex
	count int
	view  *node
}

func newApp(s *store) *app {
	a := &app{store: s, table: make(map[string]interface{}), sessions: make(map[string]*session)}
	for i := 0; i < tableEntries; i++ {
		key := fmt.Sprintf("key-%04d", i)
		a.keys = append(a.keys, key)
		a.table[key] = map[string]interface{}{"key": key, "value": i * i, "label": "entry " + strconv.Itoa(i)}
	}
	return a
}

func (a *app) addRoutes(mux *http.ServeMux) {
	mux.HandleFunc("/", a.page)
	mux.HandleFunc("/_sky/sse", a.stream)
	mux.HandleFunc("/_sky/event", a.event)
	mux.HandleFunc("/metadata/", a.metadataKey)
	mux.HandleFunc("/metadata", a.metadataList)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		did.Healthz.add(1)
		writeBody(w, "text/plain", "ok\n")
	})
}

// writeBody sends a whole reply with its length, so that it is never chunked.
func writeBody(w http.ResponseWriter, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	io.WriteString(w, body)
}

func writeJSON(w http.ResponseWriter, value interface{}) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeBody(w, "application/json", string(body)+"\n")
}

// page begins a session.
func (a *app) page(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	var id [16]byte
	rand.Read(id[:])
	s := &session{id: hex.EncodeToString(id[:]), view: renderView(stockElements, 0)}
	html := "<!doctype html><title>sampleapp</title>" + s.view.html()
	a.mu.Lock()
	full := len(a.sessions) >= maxSessions
	if !full {
		a.sessions[s.id] = s
	}
	a.mu.Unlock()
	if full {
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	did.Pages.add(1)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.id, Path: "/", HttpOnly: true})
	writeBody(w, "text/html; charset=utf-8", html)
}

func (a *app) find(id string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// stream stays open, and silent, for as long as the client does.
func (a *app) stream(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie(cookieName)
	if err != nil || a.find(cookie.Value) == nil {
		http.Error(w, "no session", http.StatusNotFound)
		return
	}
	did.Streams.add(1)
	did.StreamsOpen.add(1)
	defer did.StreamsOpen.add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": open\n\n")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// readEvent answers by itself if there is no event.
func (a *app) readEvent(w http.ResponseWriter, r *http.Request) (*eventRequest, *session) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEventBytes))
	if err != nil {
		http.Error(w, "event too large", http.StatusRequestEntityTooLarge)
		return nil, nil
	}
	elements, fsyncs := stockElements, a.store.fsyncs
	ev := eventRequest{Elements: &elements, Fsyncs: &fsyncs}
	if json.Unmarshal(body, &ev) != nil || ev.Elements == nil || ev.Fsyncs == nil || *ev.Elements < 0 ||
		*ev.Elements > maxElements {
		http.Error(w, "bad event", http.StatusBadRequest)
		return nil, nil
	}
	s := a.find(ev.Session)
	if s == nil {
		http.Error(w, "unknown session", http.StatusNotFound)
	}
	return &ev, s
}

func (a *app) event(w http.ResponseWriter, r *http.Request) {
	ev, s := a.readEvent(w, r)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev.Handler {
	case "noop":
	case "reset":
		s.count = 0
	default:
		s.count++
	}
	next := renderView(*ev.Elements, s.count)
	patches := diff(s.view, next, []patch{})
	s.view = next
	spend(ev)
	if err := a.store.save(s.id, s.count, *ev.Fsyncs); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	did.Events.add(1)
	did.Elements.add(*ev.Elements)
	did.Patches.add(len(patches))
	if ev.Handler == "reset" {
		writeBody(w, "text/html; charset=utf-8", next.html())
		return
	}
	writeJSON(w, map[string]interface{}{"session": s.id, "seq": ev.Seq, "patches": patches})
}

func (a *app) metadataKey(w http.ResponseWriter, r *http.Request) {
	entry, ok := a.table[strings.TrimPrefix(r.URL.Path, "/metadata/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	did.Metadata.add(1)
	writeJSON(w, entry)
}

func (a *app) metadataList(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > len(a.keys) {
		limit = 50
	}
	var entries []interface{}
	for _, key := range a.keys[:limit] {
		entries = append(entries, a.table[key])
	}
	did.Metadata.add(1)
	writeJSON(w, entries)
}

// loggedWriter remembers what was sent, and can still stream.
type loggedWriter struct {
	http.ResponseWriter
	status, bytes int
}

func (l *loggedWriter) Flush() { l.ResponseWriter.(http.Flusher).Flush() }

func (l *loggedWriter) WriteHeader(status int) {
	l.status = status
	l.ResponseWriter.WriteHeader(status)
}

func (l *loggedWriter) Write(p []byte) (int, error) {
	n, err := l.ResponseWriter.Write(p)
	l.bytes += n
	return n, err
}

// logRequests writes TIME_NS METHOD PATH STATUS BODY_BYTES MICROSECONDS when a request ends.
func logRequests(next http.Handler, file *os.File) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		l := &loggedWriter{w, http.StatusOK, 0}
		next.ServeHTTP(l, r)
		fmt.Fprintf(file, "%d %s %s %d %d %d\n", begin.UnixNano(), r.Method, r.URL.RequestURI(), l.status,
			l.bytes, time.Since(begin).Microseconds())
	})
}

package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"k8s.io/klog/v2"
)

// lister keeps the list as finished bytes, until something has changed.
type lister struct {
	index      *index
	mu         sync.Mutex
	generation uint64
	rendered   []byte
}

func routes(w *watcher) http.Handler {
	lister := &lister{index: w.index}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /addons", func(out http.ResponseWriter, _ *http.Request) {
		lister.serve(out)
	})
	mux.HandleFunc("GET /addons/{id}", func(out http.ResponseWriter, in *http.Request) {
		w.index.serveOne(out, in.PathValue("id"))
	})
	mux.HandleFunc("GET /readyz", func(out http.ResponseWriter, _ *http.Request) {
		if !w.ready() {
			http.Error(out, "not every kind was listed yet", http.StatusServiceUnavailable)
		}
	})
	return mux
}

func (l *lister) serve(out http.ResponseWriter) {
	list, err := l.list()
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	write(out, list)
}

func (l *lister) list() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	generation, items := l.index.since(l.generation)
	if items == nil && l.rendered != nil {
		return l.rendered, nil
	}
	rendered, err := json.Marshal(map[string]any{"items": items})
	if err == nil {
		l.generation, l.rendered = generation, rendered
	}
	return rendered, err
}

// since gives all add-ons in the order of their identifiers and of which
// generation they are; no add-ons where nothing has changed since another.
func (i *index) since(generation uint64) (uint64, []summary) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.generation == generation {
		return generation, nil
	}
	items := make([]summary, 0, len(i.addons))
	for _, addon := range i.addons {
		items = append(items, addon.summary())
	}
	slices.SortFunc(items, func(x, y summary) int { return cmp.Compare(x.Identifier, y.Identifier) })
	return i.generation, items
}

func (i *index) serveOne(out http.ResponseWriter, identifier string) {
	i.mu.Lock()
	addon := i.addons[identifier]
	if addon == nil {
		i.mu.Unlock()
		http.Error(out, "no object carries this identifier", http.StatusNotFound)
		return
	}
	shown := struct {
		summary
		Objects []object `json:"objects"`
	}{addon.summary(), addon.list()}
	i.mu.Unlock()
	rendered, err := json.Marshal(shown)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	write(out, rendered)
}

func write(out http.ResponseWriter, body []byte) {
	out.Header().Set("Content-Type", "application/json")
	out.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := out.Write(body); err != nil {
		klog.V(1).InfoS("a reader went away", "err", err)
	}
}

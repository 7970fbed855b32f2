package main

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// rediscovery is how often it is looked which kinds are served.
const rediscovery = 30 * time.Second

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// watcher keeps an informer for every kind that is served.
type watcher struct {
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
	dynamic   dynamic.Interface
	index     *index

	mu         sync.Mutex
	discovered bool
	kinds      map[kind]*watch
}

// watch is how one kind is watched.
type watch struct {
	ctx    context.Context
	stop   context.CancelFunc
	synced cache.InformerSynced
	// Starts the watch of whole objects, once.
	whole sync.Once
}

// run follows which kinds are served until ctx ends.
func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(rediscovery)
	defer tick.Stop()
	for {
		kinds, failed, err := served(w.discovery)
		if err != nil {
			klog.ErrorS(err, "can't discover the kinds; what is known of them stays")
		} else {
			w.follow(ctx, kinds, failed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// follow begins to watch what is new and ends what is gone. A group that can't
// be read keeps what is known of it.
func (w *watcher) follow(ctx context.Context, kinds map[kind]bool, failed map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for known, watch := range w.kinds {
		if !kinds[known] && !failed[known.Group] {
			watch.stop()
			delete(w.kinds, known)
			w.index.forget(known)
		}
	}
	for kind := range kinds {
		if w.kinds[kind] == nil {
			w.kinds[kind] = w.watchMetadata(ctx, kind)
		}
	}
	w.discovered = true
}

// watchMetadata watches the metadata of a kind, until one of its objects
// carries the label.
func (w *watcher) watchMetadata(ctx context.Context, kind kind) *watch {
	ctx, stop := context.WithCancel(ctx)
	metadata, stopMetadata := context.WithCancel(ctx)
	informer := metadatainformer.NewFilteredMetadataInformer(
		w.metadata, kind.GroupVersionResource, metav1.NamespaceAll, 0, cache.Indexers{}, nil,
	).Informer()
	watch := &watch{ctx: ctx, stop: stop, synced: informer.HasSynced}
	look := func(object any) {
		if object, ok := object.(metav1.Object); ok && len(memberships(object.GetLabels())) > 0 {
			watch.whole.Do(func() { go w.watchWhole(kind, watch, stopMetadata) })
		}
	}
	start(metadata, informer, leanMetadata, cache.ResourceEventHandlerFuncs{
		AddFunc:    look,
		UpdateFunc: func(_, object any) { look(object) },
	})
	return watch
}

// watchWhole watches whole objects of a kind, and ends the watch of their
// metadata when it has them all.
func (w *watcher) watchWhole(kind kind, watch *watch, stopMetadata context.CancelFunc) {
	informer := dynamicinformer.NewFilteredDynamicInformer(
		w.dynamic, kind.GroupVersionResource, metav1.NamespaceAll, 0, cache.Indexers{}, nil,
	).Informer()
	set := func(object any) {
		// The watch may have been ended, and its components forgotten, a moment ago.
		if object, ok := object.(*unstructured.Unstructured); ok && watch.ctx.Err() == nil {
			w.index.set(kind, object)
		}
	}
	registered := start(watch.ctx, informer, leanObject, cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, object any) { set(object) },
		DeleteFunc: func(object any) {
			if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
				w.index.remove(kind, name.Namespace, name.Name)
			}
		},
	})
	w.mu.Lock()
	watch.synced = registered
	w.mu.Unlock()
	cache.WaitForCacheSync(watch.ctx.Done(), registered)
	stopMetadata()
}

// start runs an informer until ctx ends; the answer tells whether the handler
// has seen all that was there.
func start(ctx context.Context, informer cache.SharedIndexInformer, lean cache.TransformFunc, handler cache.ResourceEventHandler) cache.InformerSynced {
	// Both fail only once an informer runs.
	if err := informer.SetTransform(lean); err != nil {
		klog.ErrorS(err, "objects will be cached whole")
	}
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		klog.ErrorS(err, "nothing will be seen of a kind")
		return func() bool { return false }
	}
	go informer.RunWithContext(ctx)
	return registration.HasSynced
}

// ready tells whether every kind was listed.
func (w *watcher) ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.discovered {
		return false
	}
	for _, watch := range w.kinds {
		if !watch.synced() {
			return false
		}
	}
	return true
}

// leanMetadata is what is cached of the metadata of an object.
func leanMetadata(object any) (any, error) {
	partial, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	if len(memberships(partial.Labels)) == 0 {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace:       partial.Namespace,
			Name:            partial.Name,
			UID:             partial.UID,
			ResourceVersion: partial.ResourceVersion,
		}}, nil
	}
	partial.ManagedFields = nil
	delete(partial.Annotations, lastApplied)
	return partial, nil
}

// leanObject is what is cached of an object.
func leanObject(object any) (any, error) {
	whole, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	if len(memberships(whole.GetLabels())) == 0 {
		lean := &unstructured.Unstructured{Object: make(map[string]any, 3)}
		lean.SetAPIVersion(whole.GetAPIVersion())
		lean.SetKind(whole.GetKind())
		lean.Object["metadata"] = map[string]any{
			"namespace":       whole.GetNamespace(),
			"name":            whole.GetName(),
			"uid":             string(whole.GetUID()),
			"resourceVersion": whole.GetResourceVersion(),
		}
		return lean, nil
	}
	unstructured.RemoveNestedField(whole.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(whole.Object, "metadata", "annotations", lastApplied)
	return whole, nil
}

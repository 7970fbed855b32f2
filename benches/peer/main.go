// Command peer does the job of addon-controller with client-go, as a Go
// engineer would: it watches every kind, groups the objects that carry a label
// addons.x-k8s.io/IDENTIFIER, judges each with kstatus, and serves the add-ons
// over HTTP. `make bench` measures it beside addon-controller.
//
// Every kind has a metadata informer. A kind with labelled objects has a
// dynamic informer instead from then on, as kstatus reads whole objects. What
// is cached of an object without the label is its name alone.
//
// What it doesn't do: write Addon objects, look for causes, read StatusRules,
// remember since when something is as it is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "the kubeconfig to use; in a pod, its service account without one")
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve at")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, kubeconfig, listen string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// The API server has its own way to limit who asks too much; client-go's
	// 5 requests a second would make the start of a hundred watches take 20 s.
	config.QPS = -1
	watcher, err := newWatcher(config)
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(watcher)}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	go watcher.run(ctx)

	fmt.Fprintf(os.Stderr, "serving on http://%s/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newWatcher(config *rest.Config) (*watcher, error) {
	discovery, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	// Asks for protobuf, which the API server has for the metadata of every kind.
	metadata, err := metadata.NewForConfig(metadata.ConfigFor(config))
	if err != nil {
		return nil, err
	}
	dynamic, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &watcher{
		discovery: discovery,
		metadata:  metadata,
		dynamic:   dynamic,
		index:     newIndex(),
		kinds:     map[kind]*watch{},
	}, nil
}

internal import ArgumentParser

/// Requests to the gateway, or to any HTTP server at --address.
struct HttpOptions: ParsableArguments {
    @Option(help: "A scenario at the gateway: second-screen, playback, token-exchange or mixed.")
    var scenario: String?

    @Option(help: "The API of the scenario's apps: v1 or v2. (default: v1)")
    var api: String?

    @Option(
        help: "A path with its query in place of a scenario; may be repeated. {{seq}}, {{random}}, {{uuid}} and columns of --data-file are filled in."
    )
    var path: [String] = []

    @Option(help: "HTTP method of --path.")
    var verb = "GET"

    @Option(name: [.customShort("H"), .long], help: "'Name: value' of --path; may be repeated.")
    var header: [String] = []

    @Option(help: "Body of --path; @FILE reads a file.")
    var body: String?

    @Flag(help: "A new connection for each call.")
    var noKeepAlive = false

    @Flag(help: "Take any certificate of an HTTPS server.")
    var insecure = false
}

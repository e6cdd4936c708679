internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Synchronization
internal import TextEncodings

/// `boxoffice upstream record`: keeps what an upstream says.
struct UpstreamRecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Stand between the cluster and an upstream, and write a tape of what goes to and fro, without anything secret.",
        discussion: """
            It listens on this machine alone and prints the address that the upstream's 'baseUrl' has to be meanwhile; changing it there and back is \
            yours. Browsers are sent on to the upstream itself: what people type there does not pass. On the tape pseudonyms stand for bearers, \
            secrets, codes, device ids, addresses, attribute values and media tokens. Ctrl-C ends it; the exit code is 1 when the tape is not whole.
            """)

    @Argument(help: "The upstream's id.")
    var upstream: String

    @Option(name: .customLong("to"), help: "The tape: a file that is not there yet.")
    var file: String

    @Option(help: "Where to listen, on this machine. Default: a port that is free.")
    var port = 0

    @Option(help: "Where the upstream is, as an origin. Default: its baseUrl in the catalogue.")
    var baseUrl: String?

    @Option(help: "A certificate authority (PEM file) that is trusted there, beside those that the system knows.")
    var authority: String?

    @Flag(help: "Print JSON: an event a line, 'listening' and 'ended'.")
    var json = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is from 1 to 65535, or 0 for one that is free.") }
    }

    func run() async throws {
        let signals = StopSignals()
        let origin = try TapeForwarding.origin(try await place())
        guard port == 0 || !["http://127.0.0.1:\(port)", "http://localhost:\(port)"].contains(origin) else {
            throw CommandFailure("'\(upstream)' leads to this recorder already", advice: "give --base-url, the upstream's own", exit: .usage)
        }
        let client = HTTPExchange.makeClient(connections: 64, trusting: authority)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await record(TapeForwarding(exchange: HTTPExchange(client: client), upstream: origin), signals)) } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        try outcome.get()
    }

    private func place() async throws -> String {
        if let baseUrl { return baseUrl }
        let entry = try await AdministrationCall.send("GET", "/upstreams/\(FormEncoding.encode(upstream))").object["entity"] as? [String: Any]
        guard let found = entry?["baseUrl"] as? String else { throw CommandFailure("\(upstream) has no baseUrl", advice: "give --base-url") }
        return found
    }

    private func record(_ forwarding: TapeForwarding, _ signals: StopSignals) async throws {
        let recorder = try TapeRecorder(file, upstream: upstream)
        let own = Mutex("")
        let server = try await TapeServer.start(port: port) { call in
            guard call.isOfAPI else { return .redirect(307, forwarding.upstream + call.uri) }
            do {
                let answer = try await forwarding.ask(call)
                await recorder.record(call, answer, now: TapeClock.now)
                return forwarding.returned(answer, by: own.withLock { $0 })
            } catch {
                Notice.say("\(call.method) was not answered (\(PlainReason.of(error))); it is not on the tape")
                return .problem(502, "bad_gateway", "the upstream did not answer the recorder")
            }
        }
        own.withLock { $0 = server.address }
        let console = Console(tellsEvents: json)
        console.event("listening", ["address": server.address, "upstream": forwarding.upstream, "file": file])
        console.line("recording \(forwarding.upstream) to \(file)")
        console.line("make the baseUrl of '\(upstream)' \(server.address), without userAgentBaseUrl, and push; Ctrl-C ends it")
        await signals.wait()
        await server.stop()
        let (count, problem) = (await recorder.count, await recorder.problem)
        console.event("ended", ["exchanges": count, "file": file, "isWhole": problem == nil])
        console.line("\(count == 1 ? "1 exchange" : "\(count) exchanges") in \(file); make the baseUrl \(forwarding.upstream) again")
        if let problem { throw CommandFailure(problem, advice: "what came later is missing; record less at a time") }
    }
}

enum TapeClock {
    /// Milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
}

/// Lines on standard error while something goes on.
enum Notice {
    static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Synchronization
internal import TextEncodings

/// `boxoffice upstream`: what signs people in and decides in place of MVPDs.
package struct UpstreamCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "upstream", abstract: "Check the upstreams of the bridge, take in what they offer, see how they are, and tape what they say.",
        subcommands: [
            UpstreamCheckCommand.self, UpstreamImportCommand.self, UpstreamStatusCommand.self, UpstreamResetCommand.self, UpstreamRecordCommand.self,
            UpstreamReplayCommand.self, UpstreamTryCommand.self,
        ])

    package init() {}
}

/// `boxoffice upstream replay`: answers as an upstream did.
struct UpstreamReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Answer the cluster's calls from a tape, in place of the upstream.",
        discussion: """
            It listens on this machine alone and prints the address that the upstream's 'baseUrl' has to be. Each device that calls goes its own way \
            through the tape, in the part of a taped device; times are as much later as the replay is. A browser comes back at once from its login. A \
            call that is not on the tape is answered 501 and told on standard error; the exit code is 1 then. Ctrl-C ends it.
            """)

    @Argument(help: "The tape.")
    var file: String

    @Option(help: "Where to listen, on this machine. Default: a port that is free.")
    var port = 0

    @Flag(help: "Print JSON: an event a line, 'listening' and 'ended'.")
    var json = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is from 1 to 65535, or 0 for one that is free.") }
    }

    func run() async throws {
        let signals = StopSignals()
        let replay = TapeReplay(try TapeFile.read(file))
        let server = try await TapeServer.start(port: port) { replay.answer($0) }
        replay.begin(at: server.address)
        let console = Console(tellsEvents: json)
        console.event("listening", ["address": server.address, "exchanges": replay.state.all, "file": file])
        console.line("replaying \(file), \(replay.state.all) exchanges")
        console.line("make the baseUrl of the upstream \(server.address), without userAgentBaseUrl, and push; Ctrl-C ends it")
        await signals.wait()
        await server.stop()
        let state = replay.state
        console.event("ended", ["answered": state.served, "exchanges": state.all, "used": state.used, "untaped": state.untaped])
        console.line("\(state.served) calls were answered, by \(state.used) of \(state.all) exchanges; \(state.untaped) were not on the tape")
        guard state.untaped == 0 else { throw CommandExit.failed.exitCode }
    }
}

/// A player as calls reach it.
final class TapeReplay: Sendable {
    private struct State {
        var player: TapePlayer
        var origin = ""
        var untaped = 0
    }

    private let memory: Mutex<State>

    init(_ tape: [TapedExchange]) { memory = Mutex(State(player: TapePlayer(tape))) }

    func begin(at origin: String) { memory.withLock { $0.origin = origin } }

    var state: (served: Int, used: Int, all: Int, untaped: Int) {
        memory.withLock { ($0.player.served, $0.player.usedExchanges, $0.player.allExchanges, $0.untaped) }
    }

    func answer(_ call: TapeCall) -> TapeAnswer {
        memory.withLock { state in
            do throws(TapePlayer.Rejection) {
                return try state.player.answer(call, origin: state.origin, now: TapeClock.now)
            } catch {
                state.untaped += 1
                Notice.say("not on the tape: \(error.call): \(error.reason)")
                return .problem(501, "not_on_tape", "\(error.call): \(error.reason)")
            }
        }
    }
}

/// `boxoffice upstream status`: how upstreams are.
struct UpstreamStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how upstreams are: our clients there, what fails, how old the lists are, and the latest alarms.",
        discussion: "With several copies of authentication, failures and alarms are those of the copy that answers.")

    @Argument(help: "The upstream's id. Default: all.")
    var upstream: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let states = try await states()
        guard !json else { return try JsonOutput.show(["upstreams": states]) }
        let console = Console()
        if states.isEmpty { console.line("there is no upstream") }
        for state in states { for line in UpstreamText.lines(state, now: Date(), console) { console.line(line) } }
    }

    private func states() async throws -> [[String: Any]] {
        let entries: [[String: Any]]
        if let upstream {
            entries = [try await AdministrationCall.send("GET", "/upstreams/\(FormEncoding.encode(upstream))").object]
        } else {
            entries = try await AdministrationCall.send("GET", "/upstreams?size=200").object["items"] as? [[String: Any]] ?? []
        }
        return entries.map { entry in
            let entity = entry["entity"] as? [String: Any]
            return ["id": entry["id"] ?? "", "baseUrl": entity?["baseUrl"] ?? "", "state": entry["state"] ?? NSNull()]
        }
    }
}

/// An upstream's state for a person.
enum UpstreamText {
    static func lines(_ entry: [String: Any], now: Date, _ console: Console) -> [String] {
        let head = "\(console.bold(entry["id"] as? String ?? ""))  \(entry["baseUrl"] as? String ?? "")"
        guard let state = entry["state"] as? [String: Any] else {
            return [head, "  not in use: it is in the draft alone, or nobody can say how it is"]
        }
        func number(_ name: String) -> Int { state[name] as? Int ?? 0 }
        let open = state["openBreakers"] as? [String] ?? []
        let condition = open.isEmpty ? console.good("working") : console.bad("failing: \(open.joined(separator: ", "))")
        var lines = ["\(head)  \(condition)"]
        lines.append("  clients \(number("clients")), of one device each \(number("deviceClients")); calls under way \(number("callsUnderWay"))")
        let list = (state["oldestListAt"] as? Int).map { "the oldest list is \(age($0, now)) old" } ?? "no list is at hand"
        lines.append("  \(list); logouts to be told \(number("openLogouts")); its clock is \(number("clockOffsetMs") / 1000) s ahead")
        for alarm in state["alarms"] as? [[String: Any]] ?? [] {
            let event = console.bad(alarm["event"] as? String ?? "")
            let count = alarm["count"] as? Int ?? 0
            let details = (alarm["details"] as? String).map { ": \($0)" } ?? ""
            lines.append("  \(event) \(age(alarm["at"] as? Int ?? 0, now)) ago\(count > 1 ? ", \(count) times" : "")\(details)")
        }
        return lines
    }

    /// The age of a moment in milliseconds since 1970.
    private static func age(_ moment: Int, _ now: Date) -> String {
        let seconds = max(0, Int(now.timeIntervalSince1970) - moment / 1000)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}

/// `boxoffice upstream reset`: ends a device's client.
struct UpstreamResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Forget our client at an upstream that serves a device; who signed in there has to sign in again.",
        discussion: "With shared clients that is everybody whom the client serves.")

    @Argument(help: "The upstream's id.")
    var upstream: String

    @Option(help: "The device's id, as its app sends it.")
    var device: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let path = "/upstreams/\(FormEncoding.encode(upstream))/reset"
        let answer = try await AdministrationCall.send("POST", path, body: try AdministrationCall.json(["device": device])).object
        let sessions = answer["sessions"] as? Int ?? 0
        guard !json else { return try JsonOutput.show(["upstream": upstream, "sessions": sessions]) }
        Console().line("the client is forgotten; \(sessions == 1 ? "1 session" : "\(sessions) sessions") ended")
    }
}

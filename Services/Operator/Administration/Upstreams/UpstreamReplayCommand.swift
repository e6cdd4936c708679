internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Synchronization

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
            do throws(TapePlayer.Untaped) {
                return try state.player.answer(call, origin: state.origin, now: TapeClock.now)
            } catch {
                state.untaped += 1
                Notice.say("not on the tape: \(error.call): \(error.reason)")
                return .problem(501, "not_on_tape", "\(error.call): \(error.reason)")
            }
        }
    }
}

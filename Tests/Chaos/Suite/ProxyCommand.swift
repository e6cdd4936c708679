import ArgumentParser
import FaultProxy
import NIOPosix

/// `chaos proxy`: the proxy of the experiments, by hand.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Pass TCP connections on, and do to them what networks do.", discussion: "Runs until it is interrupted.")

    @Option(help: "Port on loopback.")
    var listen: Int

    @Option(help: "Where connections go: host:port.")
    var to: String

    @Option(help: "Added to the way of all bytes, in ms.")
    var delay = 0

    @Option(help: "Added to that at random, up to so many ms.")
    var jitter = 0

    @Option(name: .customLong("bytes-per-second"), help: "On each way of each connection.")
    var bytesPerSecond: Int?

    @Option(name: .customLong("corrupt-one-in"), help: "One byte in about so many has a bit turned.")
    var corruptOneIn: Int?

    @Option(name: .customLong("cut-every"), help: "All connections are cut every so many ms.")
    var cutEvery: Int?

    @Flag(help: "Accept connections and pass nothing on.")
    var mute = false

    func validate() throws {
        guard target != nil else { throw ValidationError("--to must be host:port") }
        guard delay >= 0, jitter >= 0, cutEvery ?? 1 > 0, corruptOneIn ?? 1 > 0, bytesPerSecond ?? 1 > 0 else {
            throw ValidationError("times, rates and distances are above 0")
        }
    }

    func run() async throws {
        guard let target else { return }
        let proxy = try await FaultProxy.start(port: listen, to: target.host, target.port, group: MultiThreadedEventLoopGroup.singleton)
        proxy.rules = WireRules(
            delay: .milliseconds(delay), jitter: .milliseconds(jitter), bytesPerSecond: bytesPerSecond, corruptsOneIn: corruptOneIn, isMute: mute)
        print("127.0.0.1:\(proxy.port) to \(to)")
        while true {
            try await Task.sleep(for: .milliseconds(cutEvery ?? 60_000))
            if cutEvery != nil { proxy.cut(abruptly: true) }
        }
    }

    private var target: (host: String, port: Int)? {
        guard let colon = to.lastIndex(of: ":"), let port = Int(to[to.index(after: colon)...]), (1...65535).contains(port) else { return nil }
        return (String(to[..<colon]), port)
    }
}

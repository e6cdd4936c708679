import Foundation
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Reloading")
struct ReloaderTests {
    private let folder: Folder
    private let lines = LogLines()

    init() throws {
        folder = try Folder()
        try folder.makePki(["alpha"])
    }

    private func reloading(_ reloads: [@Sendable () async -> Void] = [], _ body: () async throws -> Void) async throws {
        let reloader = Reloader(
            identity: try folder.identity("alpha"), reloads: reloads, logger: lines.logger(), interval: .milliseconds(5))
        let running = Task { try await reloader.run() }
        defer { running.cancel() }
        try await body()
    }

    @Test("a certificate that was replaced is used without a restart")
    func takesNewCertificate() async throws {
        try await reloading {
            try folder.makePki(["alpha"])
            try await eventually("reloaded") { lines.field("certificate", of: "tls.reloaded") != nil }
        }
    }

    @Test("a broken certificate is reported and the old one stays in use")
    func refusesBrokenCertificate() async throws {
        try await reloading {
            try folder.write("no certificate", to: "alpha.crt")
            try await eventually("refused") { lines.field("reason", of: "tls.reload_refused") != nil }
            #expect(lines.field("reason", of: "tls.reload_refused")?.contains("alpha.crt") == true)
        }
    }

    @Test("SIGHUP reloads everything")
    func reloadsOnHangup() async throws {
        let reloaded = Count()
        let trap = await trapHangup()
        defer { trap.cancel() }
        try await reloading([{ reloaded.increment() }]) {
            try await eventually("reloaded on a signal") {
                kill(getpid(), SIGHUP)
                return reloaded.value > 0
            }
        }
    }

    /// A signal that comes before it is trapped, or after, must not end the test process. Ignoring it by `signal` would remove the trap of other
    /// tests that run in this process at that moment, and of all that start meanwhile.
    private func trapHangup() async -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.resume()
        }
        return source
    }
}

private final class Count: Sendable {
    private let state = Mutex(0)

    var value: Int { state.withLock { $0 } }
    func increment() { state.withLock { $0 += 1 } }
}

import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import ServiceKit

/// A server that is not shielded ends the whole process here.
@Suite("Listener's shield")
struct ListenerShieldTests {
    private func application(_ shield: ListenerShield, onRunning: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        Application(
            router: Router(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                shield.markBegun()
                onRunning(channel.localAddress?.port ?? 0)
            }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("who is cancelled while clients connect ends in order")
    func cancelled() async {
        for _ in 0..<20 {
            let shield = ListenerShield()
            let (ports, port) = AsyncStream<Int>.makeStream()
            let server = application(shield) { port.yield($0) }
            let running = Task { try await shield.run(server) }
            guard let place = await ports.first(where: { _ in true }) else { return }
            let caller = Caller(place)
            try? await Task.sleep(for: .milliseconds(2))
            running.cancel()
            _ = await running.result
            caller.stop()
        }
    }

    @Test("who is cancelled before the server listens ends in order")
    func cancelledEarly() async {
        for _ in 0..<20 {
            let shield = ListenerShield()
            let server = application(shield) { _ in }
            let running = Task { try await shield.run(server) }
            running.cancel()
            _ = await running.result
        }
    }

    @Test("who is to stop before the server listens stops without an error")
    func stoppedEarly() async throws {
        for _ in 0..<20 {
            let shield = ListenerShield()
            let server = application(shield) { _ in }
            let group = ServiceGroup(
                configuration: .init(
                    services: [Shielded(server: server, shield: shield)], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            let running = Task { try await group.run() }
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }

    private struct Shielded: Service {
        let server: any Service
        let shield: ListenerShield

        func run() async throws { try await shield.run(server) }
    }

    @Test("what the server throws is thrown")
    func failure() async {
        struct Failing: Service {
            struct Failure: Error {}
            func run() async throws { throw Failure() }
        }
        await #expect(throws: Failing.Failure.self) { try await ListenerShield().run(Failing()) }
    }

    @Test("a server that does not stop is left behind")
    func stubborn() async {
        struct Stubborn: Service {
            func run() async throws {
                while true { try? await Task.detached { try await Task.sleep(for: .seconds(3600)) }.value }
            }
        }
        let running = Task { try await ListenerShield().run(Stubborn()) }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
    }
}

/// Connects and goes, again and again, as who asks whether a program is ready yet. On a thread: tasks have too few of them to be blocked here.
private final class Caller: Sendable {
    private let isOver = Atomic(false)

    init(_ port: Int) {
        Thread.detachNewThread { [self] in while !isOver.load(ordering: .relaxed) { Self.knock(port) } }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }

    private static func knock(_ port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

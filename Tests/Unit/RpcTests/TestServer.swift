import TestIdentities
import ContractRuntime
import Contracts
import Faults
import Foundation
import Logging
import NIOCore
import NIOPosix
import Rpc
import Synchronization
import Transport

/// A real server on a free port with operations that tests need, and callers for it.
final class TestServer: Sendable {
    static let service = "boxoffice.test.v1.Test"
    static let name = "server.boxoffice"
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let identities: TestIdentities
    let identity: TlsIdentity
    let operations = TestOperations()
    let server: RpcServer
    let address: RpcAddress

    init(
        identities: TestIdentities? = nil, identity: TlsIdentity? = nil, port: Int = 0,
        allow: AllowList = AllowList([TestServer.service: ["client.boxoffice"]]),
        configure: (inout RpcServer.Configuration) -> Void = { _ in }
    ) async throws {
        let identities = try identities ?? TestIdentities()
        let serverIdentity = try identity ?? identities.identity(Self.name)
        var configuration = RpcServer.Configuration(
            address: RpcAddress(host: "127.0.0.1", port: port), identity: serverIdentity, allow: allow, software: "test", softwareVersion: "1.2")
        configuration.limits.handshakeTime = .seconds(30)
        configuration.limits.helloTime = .seconds(30)
        configure(&configuration)
        var services = RpcServices()
        operations.register(in: &services)
        self.identities = identities
        self.identity = serverIdentity
        server = RpcServer(configuration: configuration, services: services, group: MultiThreadedEventLoopGroup.singleton, logger: Self.logger)
        address = try await server.start()
    }

    func client(_ name: String = "client.boxoffice", configure: (inout RpcClient.Configuration) -> Void = { _ in }) throws -> RpcClient {
        try Self.client(of: [address], identity: identities.identity(name), configure: configure)
    }

    static func client(
        of addresses: [RpcAddress], identity: TlsIdentity, configure: (inout RpcClient.Configuration) -> Void = { _ in }
    ) -> RpcClient {
        var configuration = RpcClient.Configuration(addresses: addresses, peerName: name, identity: identity, software: "test client")
        // Tests of other targets run at the same time: patience is not what is tested here.
        configuration.connectTime = .seconds(30)
        configuration.defaultTimeout = .seconds(60)
        configure(&configuration)
        return RpcClient(configuration: configuration, group: MultiThreadedEventLoopGroup.singleton, logger: logger)
    }

    func raw(_ name: String = "client.boxoffice") async throws -> RawPeer {
        try await RawPeer.connect(to: address, identity: identities.identity(name), expecting: Self.name)
    }

    /// True when a new caller is served.
    func stillServes() async throws -> Bool {
        let client = try client()
        let answer = try await DiagnosticsClient(caller: client).echo(EchoMessage(content: [1, 2, 3]), context: CallContext())
        await client.shutDown()
        return answer.content == [1, 2, 3]
    }
}

/// Operations that wait, count and fail as a test tells them.
final class TestOperations: Sendable {
    struct Counts: Sendable {
        var begun = 0
        var cancelled = 0
        var contexts: [CallContext] = []
        var itemsProduced = 0
        var failed = 0
    }

    static let wait = UnaryMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Wait", idempotency: .unknown)
    static let note = UnaryMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Note", idempotency: .unknown)
    static let read = UnaryMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Read", idempotency: .noSideEffects)
    static let fail = UnaryMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Fail", idempotency: .noSideEffects)
    static let absent = UnaryMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Absent", idempotency: .noSideEffects)
    static let count = StreamMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Count", idempotency: .noSideEffects)
    static let flood = StreamMethod<EchoMessage, EchoMessage>(service: TestServer.service, name: "Flood", idempotency: .noSideEffects)

    private let counts = Mutex(Counts())
    private let gate = Gate()
    private let faults = Mutex<[any Error]>([])

    var current: Counts { counts.withLock { $0 } }

    /// Lets the calls of `wait` go on.
    func open() { gate.open() }

    /// The errors that the next calls of `fail` throw.
    func throwNext(_ errors: [any Error]) { faults.withLock { $0 = errors } }

    func register(in services: inout RpcServices) {
        services.unary(Self.wait) { request, context in
            self.note(context)
            do {
                try await self.gate.wait()
            } catch {
                self.counts.withLock { $0.cancelled += 1 }
                throw error
            }
            return request
        }
        services.unary(Self.note) { request, context in
            self.note(context)
            return request
        }
        services.unary(Self.read) { request, context in
            self.note(context)
            return request
        }
        services.unary(Self.fail) { request, _ in
            guard let error = self.faults.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return request }
            self.counts.withLock { $0.failed += 1 }
            throw error
        }
        services.stream(Self.count) { request, _ in
            AsyncThrowingStream { stream in
                for number in request.content { stream.yield(EchoMessage(content: [number])) }
                stream.finish()
            }
        }
        services.stream(Self.flood) { request, _ in
            AsyncThrowingStream {
                self.counts.withLock { $0.itemsProduced += 1 }
                return Task.isCancelled ? nil : EchoMessage(content: request.content)
            }
        }
    }

    private func note(_ context: CallContext) {
        counts.withLock { counts in
            counts.begun += 1
            counts.contexts.append(context)
        }
    }
}

/// Holds tasks back until it is opened or they are cancelled.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting[number] = continuation }
                    return state.isOpen
                }
                if isOpen { continuation.resume() } else if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
}

/// Waits until the condition holds.
/// - Returns: `false` when it did not within the bound.
func eventually(within bound: Duration = .seconds(30), _ condition: @Sendable () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now.advanced(by: bound)
    while ContinuousClock.now < end {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return try await condition()
}

/// The fault that a call ends with; records an issue when it succeeds.
func fault(of call: () async throws -> some Sendable) async -> Fault? {
    do {
        _ = try await call()
        return nil
    } catch {
        return error as? Fault
    }
}

import TestIdentities
import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing
import Transport

extension RpcTests {
    @Suite struct PoolTests {
        @Test(.tags(.timing)) func failsAtOnceWhenNobodyListens() async throws {
            let server = try await TestServer()
            await server.server.drain()
            let client = try server.client()
            let begun = ContinuousClock.now
            let fault = try #require(await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) })
            #expect(fault.code == .unavailable)
            #expect(fault.isRetryable)
            #expect(fault.retryAfter != nil)
            #expect(begun.duration(to: .now) < .seconds(20))
        }

        @Test(.tags(.timing)) func shutdownInterruptsReconnecting() async throws {
            let server = try await TestServer()
            await server.server.drain()
            let client = try server.client { $0.backoff = ReconnectBackoff(first: .seconds(600), longest: .seconds(600)) }
            _ = await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            let begun = ContinuousClock.now
            await client.shutDown()
            #expect(begun.duration(to: .now) < .seconds(5))
        }

        @Test(.tags(.timing)) func isBackWithinASecondOfARestart() async throws {
            let first = try await TestServer()
            let client = try first.client()
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            await first.server.drain()
            #expect(
                try await eventually {
                    await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }?.code == .unavailable
                })
            let second = try await TestServer(identities: first.identities, identity: first.identity, port: first.address.port)
            let restarted = ContinuousClock.now
            #expect(
                try await eventually {
                    await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) } == nil
                })
            #expect(restarted.duration(to: .now) < .seconds(1))
            #expect(second.operations.current.begun == 1)
        }

        @Test func spreadsCallsOverAllAddresses() async throws {
            let first = try await TestServer()
            let second = try await TestServer(identities: first.identities)
            let client = TestServer.client(of: [first.address, second.address], identity: try first.identities.identity("client.boxoffice"))
            #expect(try await eventually { client.readyConnections == 2 })
            for _ in 0..<10 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(first.operations.current.begun == 5)
            #expect(second.operations.current.begun == 5)
        }

        @Test func goesOnWithTheOtherAddressWhenOneLeaves() async throws {
            let first = try await TestServer()
            let second = try await TestServer(identities: first.identities)
            let client = TestServer.client(of: [first.address, second.address], identity: try first.identities.identity("client.boxoffice"))
            #expect(try await eventually { client.readyConnections == 2 })
            let calls = Task {
                var count = 0
                while !Task.isCancelled {
                    _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
                    count += 1
                }
                return count
            }
            #expect(try await eventually { first.operations.current.begun > 10 })
            await first.server.drain()
            let before = second.operations.current.begun
            #expect(try await eventually { second.operations.current.begun > before + 10 })
            calls.cancel()
            // Every call that was made got its answer, or was cancelled by this test.
            let outcome = await calls.result
            if case .failure(let error) = outcome { #expect((error as? Fault)?.code == .cancelled) }
        }

        @Test func retriesReadWhoseConnectionBreaks() async throws {
            let breaking = try await BreakingServer(name: TestServer.name)
            let client = TestServer.client(of: [breaking.address], identity: try breaking.identities.identity("client.boxoffice"))
            // Each connection breaks at its first request; the read is tried again on each new one.
            #expect(await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            #expect(breaking.requestCount == 3)
        }

        @Test func doesNotRepeatChangeThatMayHaveBegun() async throws {
            let breaking = try await BreakingServer(name: TestServer.name)
            let client = TestServer.client(of: [breaking.address], identity: try breaking.identities.identity("client.boxoffice"))
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            #expect(breaking.requestCount == 1)
        }

        @Test func retriesOnlyWithinTheBudget() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let calls = 100
            server.operations.throwNext((0..<10_000).map { _ in Fault(.unavailable, "Not now.") })
            for _ in 0..<calls {
                #expect(await fault { try await client.call(TestOperations.fail, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            }
            // The budget starts with 20 and grows by a tenth of the calls.
            #expect(server.operations.current.failed >= calls + 20)
            #expect(server.operations.current.failed <= calls + 20 + calls / 10)
        }

        @Test("no copy can do better where a service outside the cluster is away: nothing is sent again")
        func repeatsNothingForAnUpstream() async throws {
            let server = try await TestServer()
            let client = try server.client()
            server.operations.throwNext((0..<100).map { _ in Fault(.upstreamUnavailable, "Not now.", retryAfter: .seconds(5)) })
            for _ in 0..<20 {
                let fault = await fault { try await client.call(TestOperations.fail, EchoMessage(), context: CallContext()) }
                #expect(fault?.code == .upstreamUnavailable && fault?.isRetryable == true && fault?.retryAfter == .seconds(5))
            }
            #expect(server.operations.current.failed == 20)
        }

        @Test func noticesPeerThatIsDead() async throws {
            let silent = try await BreakingServer(name: TestServer.name, behaviour: .silent)
            let client = TestServer.client(of: [silent.address], identity: try silent.identities.identity("client.boxoffice")) {
                $0.pingInterval = .seconds(1)
                $0.pingTimeout = .seconds(1)
            }
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            #expect(silent.requestCount == 1)
        }

        @Test func takesUpReloadedCertificate() async throws {
            let identities = try TestIdentities()
            try identities.issue("server", names: ["old.boxoffice"])
            let identity = try TlsIdentity(files: identities.files("server"))
            let server = try await TestServer(identities: identities, identity: identity)
            let old = try server.client { $0.peerName = "old.boxoffice" }
            _ = try await old.call(TestOperations.read, EchoMessage(), context: CallContext())

            try identities.issue("server", names: [TestServer.name])
            #expect(try identity.reloadIfChanged())
            #expect(try await server.stillServes())
            _ = try await old.call(TestOperations.read, EchoMessage(), context: CallContext())

            try identities.write("rubbish", "server.key")
            #expect(throws: TlsError.self) { try identity.reloadIfChanged() }
            #expect(try await server.stillServes())
        }
    }
}

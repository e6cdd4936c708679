import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing
import Frames

extension RpcTests {
    @Suite struct LimitTests {
        @Test func answersOverloadedBeyondTheCallsOfAConnection() async throws {
            let server = try await TestServer {
                $0.limits.callsPerConnection = 2
                $0.limits.overloadedRetryAfter = .milliseconds(700)
            }
            try await expectOverload(server)
        }

        @Test func answersOverloadedBeyondTheCallsOfAMethod() async throws {
            let server = try await TestServer {
                $0.limits.callsPerMethod = ["\(TestServer.service)/Wait": 2]
                $0.limits.overloadedRetryAfter = .milliseconds(700)
            }
            try await expectOverload(server)
        }

        @Test func answersOverloadedBeyondTheCallsOfAMethodInAll() async throws {
            let server = try await TestServer {
                $0.limits.callsPerMethodInAll = 2
                $0.limits.overloadedRetryAfter = .milliseconds(700)
            }
            try await expectOverload(server)
        }

        private func expectOverload(_ server: TestServer) async throws {
            let peer = try await server.raw()
            try peer.sayHello()
            for id in 1...3 { try peer.send(.request(Request(callID: UInt64(id), service: TestServer.service, method: "Wait"))) }
            let response = try #require(await peer.response())
            #expect(response.callID == 3)
            #expect(response.fault?.code == "overloaded")
            #expect(response.fault?.retryAfterMilliseconds == 700)
            #expect(server.operations.current.begun == 2)
            server.operations.open()
            #expect(try #require(await peer.response()).fault == nil)
            #expect(try #require(await peer.response()).fault == nil)
            #expect(try await server.stillServes())
        }

        @Test func clientHoldsToWhatTheServerAccepts() async throws {
            let server = try await TestServer { $0.limits.callsPerConnection = 2 }
            let client = try server.client()
            let calls = (0..<2).map { _ in Task { try await client.call(TestOperations.wait, EchoMessage(), context: CallContext()) } }
            #expect(try await eventually { server.operations.current.begun == 2 })
            let fault = await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(fault?.code == .overloaded)
            #expect(fault?.retryAfter != nil)
            server.operations.open()
            for call in calls { _ = try await call.value }
        }

        @Test func turnsAwayOneConnectionTooMany() async throws {
            let server = try await TestServer { $0.limits.connections = 1 }
            let first = try await server.raw()
            try first.sayHello()
            #expect(try await eventually { server.server.connectionCount == 1 })
            let second = try await server.raw()
            try second.sayHello()
            #expect(await second.farewell()?.code == "too_many_connections")
            first.close()
            #expect(try await eventually { server.server.connectionCount == 0 })
            #expect(try await server.stillServes())
        }

        @Test func closesIdleConnection() async throws {
            let server = try await TestServer {
                $0.limits.idleTime = .milliseconds(100)
                $0.limits.pingInterval = .seconds(60)
            }
            let peer = try await server.raw()
            try peer.sayHello()
            guard case .goAway(let goAway)? = await peer.next() else { return #expect(Bool(false), "no go-away") }
            #expect(goAway.code == "idle")
            #expect(try await server.stillServes())
        }

        @Test func dropsPeerThatAnswersNoPing() async throws {
            let server = try await TestServer {
                $0.limits.pingInterval = .milliseconds(50)
                $0.limits.pingTimeout = .milliseconds(50)
            }
            let peer = try await server.raw()
            try peer.sayHello()
            #expect(try await eventually { server.server.connectionCount == 1 })
            #expect(try await eventually { server.server.connectionCount == 0 })
            peer.close()
            #expect(try await server.stillServes())
        }

        @Test func refusesAnswerThatTheCallerDoesNotAccept() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.send(.hello(Hello(protocolVersion: 1, maxFrameBytes: 1024)))
            let payload = try EchoMessage(content: [UInt8](repeating: 1, count: 2000)).serialized()
            for (id, method) in [(1, (DiagnosticsMethods.service, "Echo")), (2, (TestServer.service, "Read"))] as [(UInt64, (String, String))] {
                try peer.send(.request(Request(callID: id, service: method.0, method: method.1, payload: payload)))
                #expect(await peer.response()?.fault?.code == "frame_too_large")
            }
            #expect(try await server.stillServes())
        }

        @Test func holdsBackStreamWhoseReaderIsSlow() async throws {
            let server = try await TestServer {
                $0.limits.outboundHighWaterMark = 64 * 1024
                $0.limits.slowReaderTime = .seconds(600)
            }
            let peer = try await server.raw()
            try peer.sayHello()
            try await peer.stopReading()
            let payload = try EchoMessage(content: [UInt8](repeating: 1, count: 16 * 1024)).serialized()
            try peer.send(.request(Request(callID: 1, service: TestServer.service, method: "Flood", payload: payload)))
            #expect(
                try await eventually {
                    let before = server.operations.current.itemsProduced
                    try await Task.sleep(for: .milliseconds(100))
                    return before > 0 && server.operations.current.itemsProduced == before
                })
            #expect(server.server.connectionCount == 1)
            #expect(try await server.stillServes())
            peer.close()
            #expect(try await eventually { server.server.connectionCount == 0 })
        }
    }
}

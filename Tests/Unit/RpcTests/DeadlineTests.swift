import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing
import Frames

extension RpcTests {
    @Suite struct DeadlineTests {
        @Test func doesNotRunCallWhoseDeadlineIsOver() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            try peer.send(.request(Request(callID: 1, service: TestServer.service, method: "Note", timeoutMicroseconds: 1)))
            #expect(await peer.response()?.fault?.code == "deadline_exceeded")
            #expect(server.operations.current.begun == 0)
            #expect(try await server.stillServes())
        }

        @Test func clientDoesNotSendCallWhoseDeadlineIsOver() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let context = CallContext(deadline: .now.advanced(by: .seconds(-1)))
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: context) }?.code == .deadlineExceeded)
            #expect(server.operations.current.begun == 0)
        }

        @Test(.tags(.timing)) func expiryEndsTheWaitAndTheWork() async throws {
            let server = try await TestServer()
            let client = try server.client()
            _ = try await client.call(DiagnosticsMethods.echo, EchoMessage(), context: CallContext())
            let begun = ContinuousClock.now
            let context = CallContext(deadline: begun.advanced(by: .milliseconds(100)))
            #expect(await fault { try await client.call(TestOperations.wait, EchoMessage(), context: context) }?.code == .deadlineExceeded)
            #expect(begun.duration(to: .now) >= .milliseconds(100))
            #expect(begun.duration(to: .now) < .seconds(5))
            #expect(try await eventually { server.operations.current.cancelled == 1 })
            #expect(try await server.stillServes())
        }

        @Test func serverEndsTheWorkByItself() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            try peer.send(.request(Request(callID: 1, service: TestServer.service, method: "Wait", timeoutMicroseconds: 50_000)))
            #expect(await peer.response()?.fault?.code == "deadline_exceeded")
            #expect(try await eventually { server.operations.current.cancelled == 1 })
        }

        @Test func callWithoutDeadlineGetsTheDefault() async throws {
            let server = try await TestServer()
            let client = try server.client { $0.defaultTimeout = .milliseconds(50) }
            #expect(await fault { try await client.call(TestOperations.wait, EchoMessage(), context: CallContext()) }?.code == .deadlineExceeded)
        }

        @Test func cancellationOfTheCallerStopsTheWork() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let call = Task { try await client.call(TestOperations.wait, EchoMessage(), context: CallContext()) }
            #expect(try await eventually { server.operations.current.begun == 1 })
            call.cancel()
            #expect(await fault { try await call.value }?.code == .cancelled)
            #expect(try await eventually { server.operations.current.cancelled == 1 })
            #expect(try await server.stillServes())
        }

        @Test func callOfCancelledTaskIsNotSent() async throws {
            let server = try await TestServer()
            let client = try server.client()
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
            }
            #expect(await fault { try await call.value }?.code == .cancelled)
            #expect(server.operations.current.begun == 1)
        }

        @Test func endOfTheConnectionStopsTheWork() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            try peer.sayHello()
            try peer.send(.request(Request(callID: 1, service: TestServer.service, method: "Wait")))
            #expect(try await eventually { server.operations.current.begun == 1 })
            peer.close()
            #expect(try await eventually { server.operations.current.cancelled == 1 })
            #expect(try await eventually { server.server.connectionCount == 0 })
        }
    }
}

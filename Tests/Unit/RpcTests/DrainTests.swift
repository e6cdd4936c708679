import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing
import Frames

extension RpcTests {
    @Suite struct DrainTests {
        @Test func finishesCallsInFlightAndTakesNoNewOnes() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let call = Task { try await client.call(TestOperations.wait, EchoMessage(content: [5]), context: CallContext()) }
            #expect(try await eventually { server.operations.current.begun == 1 })
            let drain = Task { await server.server.drain() }
            #expect(try await eventually { client.readyConnections == 0 })
            #expect(await fault { try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            server.operations.open()
            #expect(try await call.value.content == [5])
            await drain.value
            #expect(server.server.connectionCount == 0)
            #expect(server.operations.current.begun == 1)
        }

        @Test func givesUpCallsAfterTheDrainTime() async throws {
            let server = try await TestServer { $0.drainTime = .milliseconds(100) }
            let client = try server.client()
            let call = Task { try await client.call(TestOperations.wait, EchoMessage(), context: CallContext()) }
            #expect(try await eventually { server.operations.current.begun == 1 })
            await server.server.drain()
            #expect(await fault { try await call.value }?.code == .unavailable)
            #expect(try await eventually { server.operations.current.cancelled == 1 })
        }

        @Test func endsStreamsAsUnavailable() async throws {
            let server = try await TestServer()
            let health = HealthClient(caller: try server.client())
            server.server.health.setServing()
            let reports = try await health.watch(CheckHealthRequest(), context: CallContext())
            let watcher = Task {
                var seen: [ServingStatus] = []
                do {
                    for try await report in reports { seen.append(report.status) }
                } catch {
                    return (seen, (error as? Fault)?.code)
                }
                return (seen, nil)
            }
            #expect(try await eventually { try await health.check(CheckHealthRequest(), context: CallContext()).status == .serving })
            await server.server.drain()
            let (seen, code) = await watcher.value
            #expect(seen.first == .serving)
            #expect(code == .unavailable)
        }

        @Test func cutsThoseWhoAreStillShakingHands() async throws {
            let server = try await TestServer()
            let peer = try await server.raw()
            #expect(try await eventually { server.server.connectionCount == 1 })
            await server.server.drain()
            #expect(await peer.next() == nil)
        }

        @Test func clientLetsItsCallsFinish() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let call = Task { try await client.call(TestOperations.wait, EchoMessage(content: [6]), context: CallContext()) }
            #expect(try await eventually { server.operations.current.begun == 1 })
            let shutDown = Task { await client.shutDown() }
            #expect(try await eventually { client.readyConnections == 0 })
            server.operations.open()
            #expect(try await call.value.content == [6])
            await shutDown.value
            #expect(await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }?.code == .unavailable)
        }
    }
}

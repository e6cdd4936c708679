import ContractRuntime
import Contracts
import Faults
import Rpc
import Testing

extension RpcTests {
    @Suite struct RpcCallTests {
        @Test func answersAtOnceAndLater() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let diagnostics = DiagnosticsClient(caller: client)
            #expect(try await diagnostics.echo(EchoMessage(content: [1, 2]), context: CallContext()).content == [1, 2])
            #expect(try await diagnostics.echo(EchoMessage(content: [3], delayMilliseconds: 5), context: CallContext()).content == [3])
        }

        @Test func carriesManyCallsOverOneConnectionAtATime() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let content = [UInt8(number % 256), UInt8(number / 256)]
                        let answer = try await client.call(
                            number % 2 == 0 ? TestOperations.read : DiagnosticsMethods.echo, EchoMessage(content: content), context: CallContext())
                        return answer.content == content ? content : []
                    }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(answers.count == 500)
            #expect(!answers.contains([]))
            #expect(server.server.connectionCount == 1)
        }

        @Test func carriesLargeMessages() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            #expect(try await client.call(TestOperations.read, EchoMessage(content: content), context: CallContext()).content == content)
        }

        @Test(.tags(.timing)) func tellsTheCalleeWhoCallsAndWhy() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let context = CallContext(
                deadline: .now.advanced(by: .seconds(30)), trace: TraceContext(traceHigh: 1, traceLow: 2, span: 3, flags: 0, state: "a=b"))
            _ = try await client.call(TestOperations.note, EchoMessage(), context: context)
            let seen = try #require(server.operations.current.contexts.first)
            #expect(seen.caller == "client.boxoffice")
            #expect(seen.trace == context.trace)
            #expect(try #require(seen.timeLeft) > .seconds(25))
            #expect(try #require(seen.timeLeft) <= .seconds(30))
        }

        @Test func givesEachChangeOfStateAKey() async throws {
            let server = try await TestServer()
            let client = try server.client()
            _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
            _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
            _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext(idempotencyKey: "mine"))
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            let keys = server.operations.current.contexts.map(\.idempotencyKey)
            #expect(keys.count == 4)
            #expect(keys[0]?.utf8.count == 32)
            #expect(keys[0] != keys[1])
            #expect(keys[2] == "mine")
            #expect(keys[3] == nil)
        }

        @Test func carriesTypedFault() async throws {
            let server = try await TestServer()
            let client = try server.client()
            server.operations.throwNext([
                Fault(.authorizationDeniedByMvpd, "No.", details: "Call us.", isRetryable: true, retryAfter: .milliseconds(1500))
            ])
            let fault = try #require(await fault { try await client.call(TestOperations.fail, EchoMessage(), context: CallContext()) })
            #expect(fault.code == .authorizationDeniedByMvpd)
            #expect(fault.message == "No.")
            #expect(fault.details == "Call us.")
            #expect(fault.isRetryable)
            #expect(fault.retryAfter == .milliseconds(1500))
        }

        @Test func hidesWhatAnUnexpectedErrorSays() async throws {
            struct Secret: Error { let password = "hunter2" }
            let server = try await TestServer()
            let client = try server.client()
            server.operations.throwNext([Secret()])
            let fault = try #require(await fault { try await client.call(TestOperations.fail, EchoMessage(), context: CallContext()) })
            #expect(fault.code == .internal)
            #expect(!"\(fault)".contains("hunter2"))
            #expect(try await server.stillServes())
        }

        @Test func streamsItemsInOrder() async throws {
            let server = try await TestServer()
            let client = try server.client()
            let content = [UInt8](0..<200)
            let items = try await client.stream(TestOperations.count, EchoMessage(content: content), context: CallContext())
            #expect(try await items.reduce(into: []) { $0 += $1.content } == content)
        }

        @Test func stopsTheSourceOfAStreamThatNobodyReadsAnyMore() async throws {
            let server = try await TestServer()
            let client = try server.client { $0.streamBuffer = 100_000 }
            do {
                let items = try await client.stream(TestOperations.flood, EchoMessage(content: [1]), context: CallContext())
                var iterator = items.makeAsyncIterator()
                _ = try await iterator.next()
            }
            #expect(
                try await eventually(within: .seconds(60)) {
                    let before = server.operations.current.itemsProduced
                    try await Task.sleep(for: .milliseconds(50))
                    return server.operations.current.itemsProduced == before
                })
            #expect(try await server.stillServes())
        }

        @Test func endsStreamWhoseConsumerIsTooSlow() async throws {
            let server = try await TestServer()
            let client = try server.client { $0.streamBuffer = 10 }
            let items = try await client.stream(TestOperations.flood, EchoMessage(content: [1]), context: CallContext())
            var count = 0
            let fault = await fault {
                for try await _ in items {
                    count += 1
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            #expect(fault?.code == .overloaded)
            #expect(count >= 10)
        }

        @Test func pushesHealth() async throws {
            let server = try await TestServer()
            let health = HealthClient(caller: try server.client())
            #expect(try await health.check(CheckHealthRequest(), context: CallContext()).status == .notServing)
            var reports = try await health.watch(CheckHealthRequest(), context: CallContext()).makeAsyncIterator()
            #expect(try await reports.next()?.reason == "starting")
            server.server.health.setServing()
            let serving = try await reports.next()
            #expect(serving?.status == .serving)
            #expect(serving?.softwareVersion == "1.2")
            server.server.health.setNotServing(reason: "disk full")
            #expect(try await reports.next()?.reason == "disk full")
        }

        @Test func describesItself() async throws {
            let server = try await TestServer()
            let reflection = ReflectionClient(caller: try server.client())
            let services = try await reflection.listServices(ListServicesRequest(), context: CallContext()).services
            #expect(services == [TestServer.service, HealthMethods.service, ReflectionMethods.service, DiagnosticsMethods.service])
            let descriptors = try await reflection.getDescriptorSet(GetDescriptorSetRequest(), context: CallContext()).fileDescriptorSet
            #expect(descriptors == ContractDescriptors.fileDescriptorSet)
        }
    }
}

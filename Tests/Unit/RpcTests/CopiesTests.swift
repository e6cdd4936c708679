import ContractRuntime
import Contracts
import Faults
import Synchronization
import Testing
import Transport

@testable import Rpc

/// Answers of a name server, as a test changes them.
private final class Names: Sendable {
    private let answers: Mutex<Result<[String], Fault>>

    init(_ addresses: [String]) { answers = Mutex(.success(addresses)) }

    func set(_ addresses: [String]) { answers.withLock { $0 = .success(addresses) } }

    func fail() { answers.withLock { $0 = .failure(Fault(.unavailable, "The name server does not answer.")) } }

    func lookup() throws -> [String] { try answers.withLock { $0 }.get() }
}

extension RpcTests {
    /// A name that resolves to several copies of a peer.
    @Suite struct CopiesTests {
        private static func client(_ server: TestServer, _ names: Names) throws -> RpcClient {
            TestServer.client(
                of: [RpcAddress(host: "server.example", port: server.address.port)], identity: try server.identities.identity("client.boxoffice")
            ) {
                $0.lookup = { _ in try names.lookup() }
                $0.lookupInterval = .milliseconds(20)
            }
        }

        private static func second(to first: TestServer) async throws -> TestServer {
            try await TestServer(identities: first.identities) { $0.address = RpcAddress(host: "127.0.0.2", port: first.address.port) }
        }

        @Test func callsGoToAllCopiesOfAName() async throws {
            let first = try await TestServer()
            let second = try await Self.second(to: first)
            let client = try Self.client(first, Names(["127.0.0.1", "127.0.0.2", "::1"]))
            #expect(try await eventually { client.readyConnections == 2 })
            for _ in 0..<10 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(first.operations.current.begun == 5)
            #expect(second.operations.current.begun == 5)
        }

        @Test func copiesComeAndGoWithoutAFailedCall() async throws {
            let first = try await TestServer()
            let second = try await Self.second(to: first)
            let names = Names(["127.0.0.1", "127.0.0.2"])
            let client = try Self.client(first, names)
            #expect(try await eventually { client.readyConnections == 2 })
            let calls = Task {
                while !Task.isCancelled { _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }
            }
            names.set(["127.0.0.2"])
            #expect(try await eventually { client.readyConnections == 1 })
            // A call that was on its way when the copy left may begin there yet.
            let last = second.operations.current.begun
            #expect(try await eventually { second.operations.current.begun > last + 10 })
            let begun = first.operations.current.begun
            let before = second.operations.current.begun
            #expect(try await eventually { second.operations.current.begun > before + 10 })
            #expect(first.operations.current.begun == begun)
            names.fail()
            names.set(["127.0.0.1", "127.0.0.2"])
            #expect(try await eventually { client.readyConnections == 2 && first.operations.current.begun > begun + 10 })
            calls.cancel()
            if case .failure(let error) = await calls.result { #expect((error as? Fault)?.code == .cancelled) }
        }

        @Test func aCopyThatCannotWorkGetsNoCallsUntilItCanAgain() async throws {
            let first = try await TestServer()
            let second = try await Self.second(to: first)
            first.server.health.setServing()
            second.server.health.setNotServing(reason: "no catalogue yet")
            let client = try TestServer.client(
                of: [first.address, RpcAddress(host: "127.0.0.2", port: first.address.port)], identity: first.identities.identity("client.boxoffice")
            ) { $0.followsHealth = true }
            #expect(try await eventually { client.readyConnections == 2 })
            // The first report comes with the connection; until then nothing is known.
            #expect(
                try await eventually {
                    let before = second.operations.current.begun
                    for _ in 0..<4 { _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }
                    return second.operations.current.begun == before
                })
            let quiet = second.operations.current.begun
            for _ in 0..<20 { _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext()) }
            #expect(second.operations.current.begun == quiet)

            second.server.health.setServing()
            #expect(
                try await eventually {
                    _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
                    return second.operations.current.begun > quiet + 3
                })

            // When no copy is ready, all get calls: an error from a copy tells more than no answer.
            first.server.health.setNotServing(reason: "x")
            second.server.health.setNotServing(reason: "x")
            let begun = (first.operations.current.begun, second.operations.current.begun)
            #expect(
                try await eventually {
                    _ = try await client.call(TestOperations.note, EchoMessage(), context: CallContext())
                    return first.operations.current.begun > begun.0 + 3 && second.operations.current.begun > begun.1 + 3
                })
            await client.shutDown()
        }

        @Test("each copy is asked by itself: one that hangs, or is gone, keeps no other from its answer; what each says of itself is known")
        func eachCopyIsAsked() async throws {
            let first = try await TestServer()
            let second = try await Self.second(to: first)
            first.server.health.setServing()
            first.server.health.set(certificates: [CertificateEnd(use: "wire", endsAtMilliseconds: 7)])
            second.server.health.setNotServing(reason: "no catalogue yet")
            let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map { RpcAddress(host: $0, port: first.address.port) }
            let client = try TestServer.client(of: addresses, identity: first.identities.identity("client.boxoffice")) { $0.followsHealth = true }
            #expect(try await eventually { client.copies.map(\.reason) == ["", "no catalogue yet", ""] && !client.copies[0].certificates.isEmpty })
            #expect(client.copies.map(\.isServing) == [true, false, false])
            #expect(client.copies[0].certificates == [CertificateEnd(use: "wire", endsAtMilliseconds: 7)])
            #expect(client.copies.map(\.address) == addresses.map { "\($0)" })
            for (copy, number) in zip(client.copies.prefix(2), [1, 2] as [UInt8]) {
                let answer = try await copy.call(TestOperations.read, EchoMessage(content: [number]), context: CallContext())
                #expect(answer.content == [number])
            }
            #expect(first.operations.current.begun == 1 && second.operations.current.begun == 1, "the copy that cannot work is asked too")
            func fault(_ copy: PeerCopy, _ context: CallContext) async -> Fault.Code? {
                do throws(Fault) {
                    _ = try await copy.call(TestOperations.wait, EchoMessage(), context: context)
                    return nil
                } catch { return error.code }
            }
            #expect(await fault(client.copies[0], CallContext().child(within: .milliseconds(50))) == .deadlineExceeded)
            #expect(await fault(client.copies[2], CallContext()) == .unavailable)
            first.operations.open()
            await client.shutDown()
        }

        @Test func watchersMayLeaveWhileTheyAreTold() async throws {
            let health = HealthState(softwareVersion: "1")
            for _ in 0..<200 {
                let watchers = (0..<8).map { _ in
                    Task { for try await _ in try await health.watch(CheckHealthRequest(), context: CallContext()) {} }
                }
                let teller = Task.detached {
                    for number in 0..<20 { if number.isMultiple(of: 2) { health.setServing() } else { health.setNotServing(reason: "x") } }
                }
                await Task.yield()
                for watcher in watchers { watcher.cancel() }
                await teller.value
                for watcher in watchers { _ = await watcher.result }
            }
        }

        @Test func followingTheHealthKeepsNobodyFromStopping() async throws {
            let server = try await TestServer()
            let client = try server.client {
                $0.followsHealth = true
                $0.drainTime = .seconds(60)
            }
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            let start = ContinuousClock.now
            await client.shutDown()
            let other = try server.client { $0.followsHealth = true }
            _ = try await other.call(TestOperations.read, EchoMessage(), context: CallContext())
            await server.server.drain()
            #expect(start.duration(to: .now) < .seconds(30), "neither waited for the stream to end")
            await other.shutDown()
        }

        @Test func aNameThatIsNotKnownYetIsTriedAgain() async throws {
            let server = try await TestServer()
            let names = Names([])
            names.fail()
            let client = try Self.client(server, names)
            let fault = try #require(await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) })
            #expect(fault.code == .unavailable)
            names.set(["127.0.0.1", "127.0.0.2"])
            #expect(try await eventually { client.readyConnections == 1 })
            await client.shutDown()
        }

        @Test func aNameWithOneAddressOfEachFamilyIsOneCopy() {
            let name = RpcAddress(host: "server.example", port: 7)
            func copies(_ found: [String], hadSeveral: Bool = false) -> [String] {
                NameLookup.copies(of: name, found, hadSeveral: hadSeveral).map { "\($0)" }
            }
            #expect(copies(["127.0.0.1"]) == ["server.example:7"])
            #expect(copies(["::1", "127.0.0.1", "127.0.0.1"]) == ["server.example:7"])
            #expect(copies(["10.0.0.2", "10.0.0.1", "::1"]) == ["10.0.0.1:7", "10.0.0.2:7"])
            #expect(copies(["fd00::2", "fd00::1", "10.0.0.1"]) == ["[fd00::1]:7", "[fd00::2]:7"])
            #expect(copies(["10.0.0.1"], hadSeveral: true) == ["10.0.0.1:7"])
            #expect(copies([], hadSeveral: true) == ["server.example:7"])
        }

        @Test func theSystemResolvesNames() async throws {
            #expect(NameLookup.isLiteral("127.0.0.1") && NameLookup.isLiteral("::1") && !NameLookup.isLiteral("localhost"))
            let found = try await NameLookup.addresses(of: "localhost")
            #expect(found.contains("127.0.0.1") || found.contains("::1"))
            await #expect(throws: Fault.self) { try await NameLookup.addresses(of: "no-such-name.invalid") }
        }
    }
}

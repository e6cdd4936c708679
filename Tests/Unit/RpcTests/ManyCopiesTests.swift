import ContractRuntime
import Contracts
import FaultProxy
import Faults
import NIOPosix
import Synchronization
import TestIdentities
import Testing
import Transport

@testable import Rpc

@Suite("Many callers and many copies")
struct CallersTests {
    @Test("programs are counted, not connections; many are many until a quarter has gone")
    func counts() {
        let reports = Mutex<[Bool]>([])
        let callers = Callers(limit: 8) { areMany in reports.withLock { $0.append(areMany) } }
        for program in 1...8 as ClosedRange<UInt64> { for _ in 0..<8 { callers.enter(program) } }
        #expect(callers.count == 8 && reports.withLock { $0 }.isEmpty)
        callers.enter(9)
        #expect(reports.withLock { $0 } == [true])
        for program in 7...9 as ClosedRange<UInt64> { for _ in 0..<8 { callers.leave(program) } }
        #expect(callers.count == 6 && reports.withLock { $0 } == [true, false])
    }

    @Test("each caller keeps the same 16 copies, and each copy about the same number of callers")
    func choosesSome() {
        let addresses = (0..<64).map { RpcAddress(host: "10.0.0.\($0)", port: 7002) }
        var counts: [Int: Int] = [:]
        for caller in 1...200 as ClosedRange<UInt64> {
            var copies = PoolCopies(addresses, caller: Rendezvous.key(of: "gateway-\(caller)"))
            for (number, address) in addresses.enumerated() { copies.come(FoundCopy(address: address), as: number) }
            #expect(copies.chosen.count == 64)
            let news = [copies.keepSome(), copies.keepSome()]
            #expect(news == [true, false])
            let chosen = copies.chosen
            #expect(chosen.count == PoolCopies.some)
            let leaving = chosen.first ?? 0
            copies.go(leaving)
            #expect(copies.chosen.intersection(chosen) == chosen.subtracting([leaving]), "the others stay")
            for number in chosen { counts[number, default: 0] += 1 }
        }
        // 50 each on average.
        #expect(counts.count == 64 && counts.values.allSatisfy { (20...85).contains($0) }, "\(counts.values.sorted())")
    }

    @Test("a copy that comes back has its number again")
    func keepsNumbers() {
        var copies = PoolCopies([RpcAddress(host: "server.example", port: 1)], caller: 1)
        let (one, two) = (RpcAddress(host: "10.0.0.1", port: 1), RpcAddress(host: "10.0.0.2", port: 1))
        #expect(copies.chosen.isEmpty)
        copies.come(FoundCopy(address: one), as: 0)
        copies.come(FoundCopy(address: two), as: copies.number(of: two))
        #expect(copies.chosen == [0, 1] && copies.addresses == [one, two])
        copies.go(0)
        #expect(copies.chosen == [1] && copies.number(of: one) == 0 && copies.number(of: two) == 2)
    }
}

extension RpcTests {
    @Suite struct ManyCopiesTests {
        /// A server that says where it runs.
        private static func server(_ identities: TestServer? = nil, zone: String = "") async throws -> TestServer {
            try await TestServer(identities: identities?.identities) { $0.zone = zone }
        }

        @Test func callsStayInTheirZoneWhileThereAreEnoughCopies() async throws {
            let here = try await Self.server(zone: "a")
            let there = try await Self.server(here, zone: "b")
            let old = try await Self.server(here)
            let client = TestServer.client(
                of: [here, there, old].map(\.address), identity: try here.identities.identity("client.boxoffice")
            ) { $0.zone = "a" }
            #expect(try await eventually { client.readyConnections == 3 })
            for _ in 0..<12 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(here.operations.current.begun == 12)
            await here.server.drain()
            #expect(try await eventually { client.readyConnections == 2 })
            for _ in 0..<12 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(there.operations.current.begun == 6 && old.operations.current.begun == 6)
            await client.shutDown()
        }

        @Test func callsWithOneAffinityReachOneCopy() async throws {
            let first = try await Self.server()
            let second = try await Self.server(first)
            let client = TestServer.client(
                of: [first.address, second.address], identity: try first.identities.identity("client.boxoffice"))
            #expect(try await eventually { client.readyConnections == 2 })
            for device in 0..<16 {
                let before = first.operations.current.begun
                let affinity = CallContext.affinity("device-\(device)", "ACME1")
                for _ in 0..<4 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext(affinity: affinity)) }
                #expect([0, 4].contains(first.operations.current.begun - before))
            }
            #expect(first.operations.current.begun > 0 && second.operations.current.begun > 0)
            #expect(first.operations.current.contexts.allSatisfy { $0.affinity == nil }, "it does not travel")
            await client.shutDown()
        }

        @Test func aCopyThatFailsIsLeftAlone() async throws {
            let bad = try await Self.server()
            let good = try await Self.server(bad)
            bad.operations.throwNext((0..<1000).map { _ in Fault(.internal, "Broken.") })
            let client = TestServer.client(of: [bad.address, good.address], identity: try bad.identities.identity("client.boxoffice"))
            #expect(try await eventually { client.readyConnections == 2 })
            var faults = 0
            for _ in 0..<100 {
                let fault = await fault { try await client.call(TestOperations.fail, EchoMessage(), context: CallContext()) }
                if fault != nil { faults += 1 }
            }
            #expect(faults == 5)
            await client.shutDown()
        }

        @Test func aCopyBehindASlowLinkIsLeftAlone() async throws {
            let slow = try await Self.server()
            let quick = try await Self.server(slow)
            let link = try await FaultProxy.start(port: 0, to: "127.0.0.1", slow.address.port, group: MultiThreadedEventLoopGroup.singleton)
            let client = TestServer.client(
                of: [RpcAddress(host: "127.0.0.1", port: link.port), quick.address], identity: try slow.identities.identity("client.boxoffice"))
            #expect(try await eventually { client.readyConnections == 2 })
            link.rules = WireRules(delay: .milliseconds(40))
            #expect(
                try await eventually(within: .seconds(40)) {
                    let before = slow.operations.current.begun
                    for _ in 0..<10 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
                    return slow.operations.current.begun == before
                })
            #expect(slow.operations.current.begun >= CallRecord.window)
            await client.shutDown()
            await link.stop()
        }

        @Test func callersKeepSomeCopiesWhenThereAreManyCallers() async throws {
            let first = try await TestServer { $0.limits.connections = 20 }
            var servers = [first]
            for _ in 1..<18 { servers.append(try await TestServer(identities: first.identities) { $0.limits.connections = 20 }) }
            for server in servers { server.server.health.setServing() }
            let identity = try first.identities.identity("client.boxoffice")
            let addresses = servers.map(\.address)
            func client(_ number: UInt64) -> RpcClient {
                TestServer.client(of: addresses, identity: identity) {
                    $0.followsHealth = true
                    $0.instance = number
                }
            }
            let few = [client(1), client(2)]
            #expect(try await eventually(within: .seconds(30)) { few.allSatisfy { $0.readyConnections == 18 } })
            let many = few + [client(3)]
            #expect(try await eventually(within: .seconds(30)) { many.allSatisfy { $0.readyConnections == PoolCopies.some } })
            for client in many { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            for client in many { await client.shutDown() }
        }

        @Test func theNameOfAHostIsOnNoList() async throws {
            let identities = try TestIdentities()
            try identities.issue("server", names: [TestServer.name, "server.a1.boxoffice"])
            let server = try await TestServer(
                identities: identities, identity: TlsIdentity(files: identities.files("server")),
                allow: AllowList([TestServer.service: ["client.b2.boxoffice", "client.boxoffice"]]))
            try identities.issue("client", names: ["client.b2.boxoffice", "client.boxoffice"])
            try identities.issue("other", names: ["other.boxoffice", "client.b2.boxoffice"])
            try identities.issue("disguised", names: ["other.boxoffice", "other.b2.boxoffice"])
            func answer(_ file: String) async throws -> Fault.Code? {
                let client = TestServer.client(of: [server.address], identity: try TlsIdentity(files: identities.files(file)))
                defer { Task { await client.shutDown() } }
                return await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }?.code
            }
            #expect(try await answer("client") == nil)
            #expect(server.operations.current.contexts.map(\.caller) == ["client.boxoffice"])
            #expect(try await answer("other") == nil, "without its role the name is one like any other")
            #expect(try await answer("disguised") == .permissionDenied)
        }
    }
}

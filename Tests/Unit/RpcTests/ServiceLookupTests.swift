import ContractRuntime
import Contracts
import Faults
import Testing

@testable import Rpc

@Suite("SRV records", .serialized)
struct ServiceLookupTests {
    private static let name = "_authentication._tcp.example"

    @Test("ports, priorities, weights and time to live are read")
    func readsRecords() async throws {
        let records = [
            ServiceRecord(target: "a.example", port: 7002, priority: 10, weight: 60, timeToLive: 30),
            ServiceRecord(target: "b.example", port: 7102, priority: 20, weight: 0, timeToLive: 9),
        ]
        let server = try await DnsServer([Self.name: .records(records)])
        #expect(try await ServiceLookup.records(of: Self.name, at: server.address) == records)
    }

    @Test("an answer that is too long for a datagram comes over TCP")
    func longAnswer() async throws {
        let records = (0..<60).map { ServiceRecord(target: "authentication-\($0).hosts.example", port: 7002, timeToLive: 30) }
        let server = try await DnsServer([Self.name: .long(records)])
        #expect(try await ServiceLookup.records(of: Self.name, at: server.address) == records)
        #expect(server.questions == 2)
    }

    @Test(
        "what is no answer is a fault that says why",
        arguments: [("noName", "does not exist"), ("none", "no SRV records"), ("failure", "no name server"), ("rubbish", "_x")])
    func failures(answer: String, words: String) async throws {
        let answers: [String: DnsServer.Answer] = ["noName": .noName, "none": .records([]), "failure": .failure, "rubbish": .rubbish]
        let server = try await DnsServer(["_x.example": try #require(answers[answer])])
        let fault = await #expect(throws: Fault.self) { try await ServiceLookup.records(of: "_x.example", at: server.address) }
        #expect(fault?.code == .unavailable)
        #expect(fault.map { "\($0)" }?.contains(words) == true)
    }

    @Test("a copy for each target and port; a target '.' offers nothing")
    func copies() throws {
        func record(_ target: String, _ port: Int = 7002, _ priority: Int = 0, _ weight: Int = 0) -> ServiceRecord {
            ServiceRecord(target: target, port: port, priority: priority, weight: weight, timeToLive: 5)
        }
        let equal = try ServiceRecord.copies(of: "x", [record("b.example"), record("a.example", 7003), record("b.example")])
        #expect(equal.map { "\($0.address)" } == ["a.example:7003", "b.example:7002"] && equal.allSatisfy { $0.rank == CopyRank() })
        let weighted = try ServiceRecord.copies(of: "x", [record("a", 1, 1, 0), record("b", 1, 2, 3)])
        #expect(weighted.map(\.rank) == [CopyRank(priority: 1, weight: 1), CopyRank(priority: 2, weight: 192)])
        #expect(throws: Fault.self) { try ServiceRecord.copies(of: "x", [record(".")]) }
        #expect(throws: Fault.self) { try ServiceRecord.copies(of: "x", []) }
    }

    @Test("records hold for as long as the shortest says, but for 2 to 60 s", arguments: [([30, 9], 9), ([0], 2), ([86_400], 60), ([], 2)])
    func timeToLive(seconds: [Int], kept: Int) {
        #expect(ServiceRecord.timeToLive(of: seconds.map { ServiceRecord(target: "a", port: 1, timeToLive: $0) }) == .seconds(kept))
    }
}

extension RpcTests {
    /// A client whose peer is found by SRV records.
    @Suite struct ServiceNameTests {
        @Test func copiesAreThoseOfTheRecordsAsLongAsTheyHold() async throws {
            let first = try await TestServer()
            let second = try await TestServer(identities: first.identities)
            func record(_ server: TestServer, priority: Int) -> ServiceRecord {
                ServiceRecord(target: "localhost", port: server.address.port, priority: priority, timeToLive: 1)
            }
            let name = "_server._tcp.example"
            let names = try await DnsServer([name: .records([record(first, priority: 1), record(second, priority: 2)])])
            let client = TestServer.client(of: [], identity: try first.identities.identity("client.boxoffice")) {
                $0.serviceNames = [name]
                $0.lookupInterval = .milliseconds(50)
                $0.serviceLookup = { try await ServiceLookup.records(of: $0, at: names.address) }
            }
            #expect(try await eventually { client.readyConnections == 2 })
            for _ in 0..<6 { _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }
            #expect(first.operations.current.begun == 6 && second.operations.current.begun == 0)
            // 2 s is the shortest time that records are kept.
            names.set(.records([record(second, priority: 2)]), for: name)
            #expect(try await eventually { client.readyConnections == 1 })
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            #expect(second.operations.current.begun == 1)
            names.set(.failure, for: name)
            let asked = names.questions
            #expect(try await eventually(within: .seconds(20)) { names.questions > asked + 1 })
            _ = try await client.call(TestOperations.read, EchoMessage(), context: CallContext())
            #expect(second.operations.current.begun == 2, "what was known stays when the name server fails")
            await client.shutDown()
        }

        @Test func aNameThatHasNoRecordsFailsAtOnceAndIsAskedAgain() async throws {
            let server = try await TestServer()
            let name = "_server._tcp.example"
            let names = try await DnsServer([name: .noName])
            let client = TestServer.client(of: [], identity: try server.identities.identity("client.boxoffice")) {
                $0.serviceNames = [name]
                $0.lookupInterval = .milliseconds(50)
                $0.serviceLookup = { try await ServiceLookup.records(of: $0, at: names.address) }
            }
            #expect(await fault { try await client.call(TestOperations.read, EchoMessage(), context: CallContext()) }?.code == .unavailable)
            names.set(.records([ServiceRecord(target: "127.0.0.1", port: server.address.port, timeToLive: 60)]), for: name)
            #expect(try await eventually { client.readyConnections == 1 })
            await client.shutDown()
        }
    }
}

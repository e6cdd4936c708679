@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

@Suite("Copies of services in a local cluster")
struct ClusterCopiesTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    @Test("each copy has ports of its own", arguments: [nil, 22000])
    func ports(base: Int?) {
        let plan = PortPlan(base: base)
        let copies = (1...ClusterCopies.most).flatMap { number in
            [ClusterService.config, .authentication, .authorization, .autosignin].map { ServiceCopy($0, number) }
        }
        let ports = copies.flatMap { [plan.main($0), plan.debug($0)] }
        let others = [
            plan.main(.gateway), plan.debug(.gateway), plan.main(.sandbox), plan.https, plan.admin, plan.apple, plan.upstream, plan.postgres,
        ]
        #expect(Set(ports).count == 2 * copies.count && Set(ports).isDisjoint(with: others))
        #expect(
            plan.main(ServiceCopy(.authentication, 2)) == (base ?? 6970) + 42 && plan.main(ServiceCopy(.authentication)) == plan.main(.authentication)
        )
    }

    @Test("callers know all copies, copies differ in their ports alone, and what is not wanted any more goes")
    func settings() throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        func write(_ count: Int) throws {
            let copies = ClusterCopies(count, store: ClusterStore(home: home, ports: PortPlan(base: 22000), choice: .asBefore))
            var writer = SettingsWriter(home: home, ports: PortPlan(base: 22000), checkout: Self.checkout, pki: LocalPki(folder: home.pki))
            writer.copies = copies
            try writer.write()
            try writer.writeCopies(copies)
        }
        func read(_ copy: ServiceCopy) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: home.settings(of: copy))) as? [String: Any])
        }
        func addresses(_ caller: ClusterService, _ peer: String) throws -> [String]? {
            ((try read(ServiceCopy(caller))["peers"] as? [String: Any])?[peer] as? [String: Any])?["addresses"] as? [String]
        }
        try write(3)
        #expect(try addresses(.gateway, "authentication") == ["127.0.0.1:22002", "127.0.0.1:22042", "127.0.0.1:22052"])
        #expect(try addresses(.authorization, "config") == ["127.0.0.1:22001"], "one writer")
        let (first, third) = (try read(ServiceCopy(.authorization)), try read(ServiceCopy(.authorization, 3)))
        #expect(Set(first.keys) == Set(third.keys) && first["data"] as? String == third["data"] as? String)
        #expect((third["listen"] as? [String: Any])?["port"] as? Int == 22053 && (third["debug"] as? [String: Any])?["port"] as? Int == 22058)
        try write(1)
        #expect(try addresses(.gateway, "authentication") == ["127.0.0.1:22002"])
        #expect(!FileManager.default.fileExists(atPath: home.settings(of: ServiceCopy(.authorization, 2)).path))
    }

    @Test("cluster.json names every copy, keeps those that go on, and forgets those that are gone")
    func file() throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensureQuickly()
        func addresses(_ count: Int) -> ClusterAddresses {
            ClusterAddresses(ports: PortPlan(base: 22000), replacements: [], copies: ClusterCopies(count))
        }
        var file = try addresses(2).emptyFile(home: home, pki: pki)
        let program = ProgramFile(path: "/programs/authorization", build: "debug", revision: "1")
        file.setProcess(ServiceProcess(ServiceCopy(.authorization, 2), pid: 42), of: program)
        try file.write(home)
        var read = try #require(try ClusterFile.read(home))
        #expect(read == file && read.program(of: ServiceCopy(.authorization, 2)) == program && read.program(of: .authorization) == nil)
        #expect(read.processes.first { $0.pid == 42 }?.copy.name == "authorization-2")
        #expect(read.processes.count == 6 + 3, "of config there is one")
        read.setCopies(addresses(3))
        #expect(read.services["authorization"]?.copies?.map(\.pid) == [42, 0])
        read.setCopies(addresses(1))
        #expect(read.services["authorization"]?.copies == nil)
    }
}

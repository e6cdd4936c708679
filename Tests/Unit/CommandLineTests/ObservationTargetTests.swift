@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing

@Suite struct ObservationTargetTests {
    private static let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0
           1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 5151 1 0000000000000000 20 4 30 10 -1
           2: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 777 1 0
           3: broken
        """

    @Test func findsTheSocketsThatListen() {
        #expect(PortOwner.listeners(Self.table, port: 8080) == [4242, 777])
        #expect(PortOwner.listeners(Self.table, port: 81).isEmpty)
        #expect(PortOwner.listeners("", port: 8080).isEmpty)
    }

    @Test func theOwnerIsFoundAmongManyListeners() throws {
        var listeners: [Int32] = []
        var ports: Set<Int> = []
        defer { for listener in listeners { close(listener) } }
        for _ in 0..<100 {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listeners.append(listener)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                    bind(listener, place, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, place, &size) == 0
                }
            }
            try #require(isBound)
            ports.insert(Int(in_port_t(bigEndian: address.sin_port)))
        }
        let found = PortOwner.all(ports)
        #expect(ports.allSatisfy { found[$0]?.contains(getpid()) == true }, "\(found.count) of \(ports.count)")
    }

    private func cluster() -> ClusterFile {
        ClusterFile(
            gateway: "http://127.0.0.1:8080",
            services: [
                "gateway": .init(address: "127.0.0.1:8080", debug: "127.0.0.1:9000", pid: 10),
                "authentication": .init(address: "127.0.0.1:7002", debug: "127.0.0.1:9002", pid: 12),
            ],
            sandbox: .init(mvpd: "http://127.0.0.1:8090", apple: "http://127.0.0.1:8091", pid: 15), adminToken: "",
            pki: .init(ca: "", clientCert: "", clientKey: ""), softwareStatements: [:], mediaTokenCertificate: "")
    }

    private func find(
        host: String = "127.0.0.1", metrics: String? = nil, cluster: ClusterFile?, owners: [Int32], isLocal: Bool = true
    ) -> ObservationTarget {
        .find(
            service: "gateway", host: host, port: 8080, metricsURL: metrics, cluster: cluster, owners: { _ in owners }, isLocal: { _ in isLocal })
    }

    @Test func aServiceOfTheLocalClusterIsLookedAtWithItsPeers() {
        let target = find(cluster: cluster(), owners: [10])
        #expect(target.metricsURL == "http://127.0.0.1:9000/metrics")
        #expect(target.processes.map(\.name) == ["gateway", "authentication", "sandbox", "boxoffice load"])
        #expect(target.processes.map(\.role) == [.target, .peer, .peer, .load])
        #expect(target.remarks.isEmpty)
    }

    @Test func aClusterThatTheServiceIsNotOfIsLeftAlone() {
        let target = find(cluster: cluster(), owners: [99])
        #expect(target.metricsURL == nil)
        #expect(target.processes.map(\.pid).first == 99 && target.processes.count == 2)
        #expect(target.remarks.contains { $0.contains("--metrics") })
    }

    @Test func severalProcessesOnOnePortAreTakenTogether() {
        #expect(
            find(metrics: "http://x/metrics", cluster: nil, owners: [5, 6]).processes.map(\.name) == ["gateway 1", "gateway 2", "boxoffice load"])
    }

    @Test func anotherMachineIsSaidToBeOne() {
        let target = find(host: "box.example", cluster: cluster(), owners: [10], isLocal: false)
        #expect(target.processes.map(\.role) == [.load])
        #expect(target.metricsURL == nil)
        #expect(target.remarks.contains { $0.contains("box.example is another machine") })
    }

    @Test func aPortThatNobodyOwnsIsSaidToBeOne() {
        #expect(find(cluster: cluster(), owners: []).remarks.contains { $0.contains("port 8080") })
    }

    @Test func loopbackIsHere() {
        #expect(LocalAddress.isLocal("127.0.0.1") && LocalAddress.isLocal("localhost") && LocalAddress.isLocal("::1"))
        #expect(!LocalAddress.isLocal("192.0.2.7") && !LocalAddress.isLocal("no such host.invalid"))
    }
}

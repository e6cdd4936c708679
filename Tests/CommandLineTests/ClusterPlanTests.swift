@testable import BoxofficeCommand
import Foundation
import Testing

@Suite struct PortPlans {
    @Test func theDefaultIsTheDocumentedOne() throws {
        let plan = try PortPlan(environment: [:])
        #expect(ClusterService.allCases.map { plan.main($0) } == [7001, 7002, 7003, 7004, 8080, 8090])
        #expect(
            [ClusterService.gateway, .config, .authentication, .authorization, .autosignin].map { plan.debug($0) } == [9000, 9001, 9002, 9003, 9004])
        #expect(plan.apple == 8091)
    }

    @Test func aBaseMovesAllOfThem() throws {
        let plan = try PortPlan(environment: ["BOXOFFICE_PORT_BASE": "30000"])
        #expect(ClusterService.allCases.map { plan.main($0) } == [30001, 30002, 30003, 30004, 30000, 30020])
        #expect([ClusterService.gateway, .config, .autosignin].map { plan.debug($0) } == [30010, 30011, 30014])
        #expect(plan.apple == 30021)
    }

    @Test(arguments: ["x", "80", "70000", "-1", "3e4"])
    func aBaseThatIsNoPortIsRefused(_ text: String) {
        #expect { try PortPlan(environment: ["BOXOFFICE_PORT_BASE": text]) } throws: { "\($0)".contains("BOXOFFICE_PORT_BASE") }
    }
}

@Suite struct ClusterFiles {
    @Test func survivesWritingAndIsPrivate() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensure()
            var file = try ClusterAddresses(ports: PortPlan(base: nil)).emptyFile(home: home, pki: pki)
            file.setProcess(ServiceProcess(service: .config, pid: 41))
            file.setProcess(ServiceProcess(service: .sandbox, pid: 42))
            try file.write(home)
            #expect(try ClusterFile.read(home) == file)
            #expect(file.processIDs[.config] == 41 && file.processIDs[.sandbox] == 42)
            let mode = try FileManager.default.attributesOfItem(atPath: home.clusterFile.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func aDamagedOneIsNamed() throws {
        try withHome { home in
            try Data("{".utf8).write(to: home.clusterFile)
            #expect { try ClusterFile.read(home) } throws: { "\($0)".contains(home.clusterFile.path) }
        }
    }

    @Test func aProcessOfAnotherProgramIsNotTakenForAService() {
        #expect(!ServiceProcess(service: .config, pid: getpid()).isRunning)
    }

    @Test func onlyOneUpAtATimeWorksOnAHome() throws {
        try withHome { home in
            let first = try ClusterLock(home)
            #expect(throws: CommandFailure.self) { try ClusterLock(home) }
            first.release()
            try ClusterLock(home).release()
        }
    }
}

func withHome(_ body: (ClusterHome) throws -> Void) throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString)")
    let home = ClusterHome(root: root)
    defer { try? FileManager.default.removeItem(at: root) }
    try home.prepare()
    try body(home)
}

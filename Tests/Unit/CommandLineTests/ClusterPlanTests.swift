@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

@Suite struct PortPlanTests {
    @Test func theDefaultIsTheDocumentedOne() throws {
        let plan = try PortPlan(environment: [:])
        #expect(ClusterService.allCases.map { plan.main($0) } == [7001, 7002, 7003, 7004, 8080, 8090])
        #expect(
            [ClusterService.gateway, .config, .authentication, .authorization, .autosignin].map { plan.debug($0) } == [9000, 9001, 9002, 9003, 9004])
        #expect(plan.apple == 8091)
        #expect(plan.upstream == 8092)
    }

    @Test func aBaseMovesAllOfThem() throws {
        let plan = try PortPlan(environment: ["BOXOFFICE_PORT_BASE": "30000"])
        #expect(ClusterService.allCases.map { plan.main($0) } == [30001, 30002, 30003, 30004, 30000, 30020])
        #expect([ClusterService.gateway, .config, .autosignin].map { plan.debug($0) } == [30010, 30011, 30014])
        #expect(plan.apple == 30021)
        #expect(plan.upstream == 30022)
    }

    @Test(arguments: ["x", "80", "70000", "-1", "3e4"])
    func aBaseThatIsNoPortIsRefused(_ text: String) {
        #expect { try PortPlan(environment: ["BOXOFFICE_PORT_BASE": text]) } throws: { "\($0)".contains("BOXOFFICE_PORT_BASE") }
    }
}

@Suite struct ClusterFileTests {
    @Test func survivesWritingAndIsPrivate() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            var file = try ClusterAddresses(ports: PortPlan(base: nil)).emptyFile(home: home, pki: pki)
            let program = ProgramFile(path: "/programs/config", build: "release", revision: "1-2")
            file.setProcess(ServiceProcess(service: .config, pid: 41), of: program)
            file.setProcess(ServiceProcess(service: .sandbox, pid: 42), of: program)
            try file.write(home)
            #expect(try ClusterFile.read(home) == file)
            #expect(file.processIDs[.config] == 41 && file.processIDs[.sandbox] == 42)
            #expect(file.program(of: .config) == program && file.program(of: .sandbox) == program && file.program(of: .gateway) == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: home.clusterFile.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("why services start again: another build, an unknown one, another folder, built anew")
    func saysWhyServicesStartAgain() throws {
        let now = ProgramFile(path: "/a/gateway", build: "release", revision: "2")
        func reason(_ ran: ProgramFile?...) -> String { ProgramFile.reason(ran.map { ($0, now) }) }
        let debug = ProgramFile(path: "/b/gateway", build: "debug", revision: "1")
        #expect(reason(debug, debug) == "they ran a debug build, this is a release build")
        #expect(reason(nil) == "what it was built from is not known")
        #expect(reason(ProgramFile(path: "/b/gateway", build: "release", revision: "2")) == "its program is now in another folder")
        #expect(reason(ProgramFile(path: "/a/gateway", build: "release", revision: "1")) == "its program was built anew")
    }

    @Test("a program that changed is another one; one that is missing is named")
    func programsAreToldApart() throws {
        try withHome { home in
            let file = home.root.appendingPathComponent("config")
            #expect { try ProgramFile(.config, in: home.root) } throws: { "\($0)".contains(file.path) }
            func write(_ text: String) throws -> ProgramFile {
                try Data(text.utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
                return try ProgramFile(.config, in: home.root)
            }
            let first = try write("one")
            #expect(try ProgramFile(.config, in: home.root) == first)
            #expect(try write("another") != first)
        }
    }

    @Test("a file of a version that did not record programs is read")
    func readsAFileWithoutPrograms() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            try ClusterAddresses(ports: PortPlan(base: nil)).emptyFile(home: home, pki: pki).write(home)
            let text = try String(contentsOf: home.clusterFile, encoding: .utf8)
            #expect(!text.contains("\"program\"") && !text.contains("\"revision\""))
            #expect(try ClusterFile.read(home)?.program(of: .gateway) == nil)
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

@Suite struct ClusterConnectionTests {
    @Test("a service that has no connection to a peer is not waited for in vain, and one that has none yet is seen")
    func seenInMetrics() {
        let other = "# TYPE boxoffice_rpc_client_connections gauge\nboxoffice_rpc_client_retries_total{peer=\"config\"} 0\n"
        #expect(!ClusterStarter.lacksConnections(other))
        #expect(!ClusterStarter.lacksConnections(other + "boxoffice_rpc_client_connections{peer=\"config\"} 2.0\n"))
        for none in ["0", "0.0"] {
            #expect(
                ClusterStarter.lacksConnections(
                    other + "boxoffice_rpc_client_connections{peer=\"config\"} 2\nboxoffice_rpc_client_connections{peer=\"authentication\"} \(none)\n"
                ))
        }
    }
}

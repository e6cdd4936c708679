@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import Foundation
import Testing

@Suite("An examination of a cluster")
struct DoctorTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../..")
        .standardizedFileURL

    private static func doctor(_ home: ClusterHome, cluster: ClusterFile? = nil, now: Timestamp = SystemClock().now()) throws -> Doctor {
        Doctor(home: home, ports: try .free(), binaries: home.root.appendingPathComponent("bin"), cluster: cluster, now: now, patience: .zero)
    }

    private static func wrong(_ findings: [Finding]) -> [String] { findings.filter { $0.verdict == .wrong }.map(\.what) }

    @Test("a folder that is not there yet has nothing wrong, and is not made")
    func nothing() async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("doctor-\(UUID().uuidString)"))
        let diagnosis = try await Self.doctor(home).diagnosis()
        #expect(diagnosis.isWell, "\(diagnosis.findings)")
        #expect(diagnosis.findings.contains { $0.area == .home && $0.verdict == .note && $0.advice?.contains("./Services/up") == true })
        #expect(diagnosis.findings.contains { $0.area == .programs && $0.what.hasPrefix("no cluster runs") })
        #expect(!FileManager.default.fileExists(atPath: home.root.path))
    }

    @Test("what is made by the cluster is well; each finding that is wrong says what to do")
    func keys() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            let before = try Self.doctor(home).keys()
            #expect(before.map(\.verdict) == [.note])
            try pki.ensureQuickly()
            let there = try FileManager.default.contentsOfDirectory(atPath: home.pki.path)
            #expect(pki.lacking.isEmpty && Set(LocalPki.files) == Set(there))
            let doctor = try Self.doctor(home)
            #expect(doctor.keys().map(\.verdict) == [.fine])
            #expect(doctor.certificates().map(\.verdict) == [.fine])

            try FileManager.default.removeItem(atPath: pki.path("statement.key"))
            #expect(chmod(pki.path("gateway.key"), 0o644) == 0)
            try FileManager.default.removeItem(atPath: pki.path("config.key"))
            try FileManager.default.copyItem(atPath: pki.path("operator.key"), toPath: pki.path("config.key"))
            try Data("no PEM".utf8).write(to: URL(fileURLWithPath: pki.path("media-token.key")))
            let findings = doctor.keys().filter { $0.verdict == .wrong }
            #expect(findings.count == 4, "\(findings)")
            #expect(findings.contains { $0.what == "missing in \(home.pki.path): statement.key" && $0.advice?.contains("'boxoffice pki'") == true })
            #expect(
                findings.contains { $0.what == "others may read \(pki.path("gateway.key")) (mode 644)" && $0.advice?.hasPrefix("chmod 600") == true })
            #expect(findings.contains { $0.what.contains("config.key do not belong together") })
            #expect(findings.contains { $0.what.contains("media-token.key cannot be used") })

            let other = home.root.appendingPathComponent("other")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            try LocalPki(folder: other).ensureConnections()
            for file in ["gateway.crt", "gateway.key"] {
                try FileManager.default.removeItem(atPath: pki.path(file))
                try FileManager.default.copyItem(at: other.appendingPathComponent(file), to: URL(fileURLWithPath: pki.path(file)))
            }
            #expect(Self.wrong(doctor.keys()).contains { $0.contains("gateway.crt is not of the authority") })
        }
    }

    @Test("certificates that end soon, have ended, and have not begun")
    func certificates() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureConnections()
            let now = SystemClock().now()
            let soon = try Self.doctor(home, now: now + .seconds(350 * 24 * 3600)).certificates()
            #expect(!soon.isEmpty && soon.allSatisfy { $0.verdict == .note && $0.what.contains("ends in 1") }, "\(soon)")
            let late = try Self.doctor(home, now: now + .seconds(400 * 24 * 3600)).certificates()
            #expect(late.contains { $0.verdict == .wrong && $0.what.hasPrefix("gateway.crt ended at ") })
            let early = try Self.doctor(home, now: now - .seconds(10 * 24 * 3600)).certificates()
            #expect(early.contains { $0.verdict == .wrong && $0.what.contains("the clock says") && $0.advice == "set the clock" })
            try Data("x".utf8).write(to: home.pki.appendingPathComponent("own.crt"))
            #expect(Self.wrong(try Self.doctor(home).certificates()) == ["\(home.pki.path)/own.crt holds no certificate that can be read"])
        }
    }

    @Test("a certificate of one of the gateway's names is looked at, wherever it lies")
    func certificatesOfNames() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureConnections()
            let elsewhere = FileManager.default.temporaryDirectory.appendingPathComponent("names-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: elsewhere) }
            let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: pki.path("ca.crt"), keyFile: pki.path("ca.key")))
            let api = try authority.issue(commonName: "api", names: CertificateNames(dns: ["api.tv.example"]), validity: .days(7))
            let file = elsewhere.appendingPathComponent("api.crt")
            try Data(api.certificate.pem().utf8).write(to: file)
            let settings = #"{"gateway":{"hosts":[{"name":"api.tv.example","certificate":"\#(file.path)","key":"\#(file.path)"}]}}"#
            try Data(settings.utf8).write(to: home.settings(of: .gateway))
            let findings = try Self.doctor(home).certificates()
            #expect(findings.count == 1 && findings[0].verdict == .note && findings[0].advice == "renew it where it came from")
            #expect(findings[0].what.hasPrefix("\(file.path) ends in 6 days, at "), "\(findings)")
        }
    }

    @Test("a clock that is behind what was written")
    func clock() throws {
        try withHome { home in
            try Data("x".utf8).write(to: home.log(of: .config))
            #expect(try Self.wrong(Self.doctor(home).clock()).isEmpty)
            let behind = try Self.doctor(home, now: SystemClock().now() - .seconds(3600)).clock()
            #expect(Self.wrong(behind).first?.contains("config.log was written at") == true)
        }
    }

    @Test("ports that others have")
    func ports() throws {
        try withHome { home in
            let doctor = try Self.doctor(home)
            #expect(doctor.freePorts().map(\.verdict) == [.fine])
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(doctor.ports.admin).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0
            }
            try #require(isBound && listen(listener, 1) == 0)
            let findings = doctor.freePorts()
            #expect(findings.count == 1 && findings[0].verdict == .wrong)
            #expect(findings[0].what.hasPrefix("port \(doctor.ports.admin), for administration, is taken: by process \(getpid())"), "\(findings)")

            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            let file = try ClusterAddresses(ports: doctor.ports).emptyFile(home: home, pki: pki)
            #expect(file.ports.count == 12, "\(file.ports)")
            var lone = file
            lone.doubles = ["config"]
            #expect(lone.ports.count == 10, "a double's ports are not the cluster's")
            let status = ClusterStatus(home: "", programs: [ProgramStatus(name: "gateway", kind: .own, address: "", state: .ready, pid: 1)])
            #expect(Self.wrong(doctor.ports(of: file, status)).first?.contains("is not gateway's: by process \(getpid())") == true)
            let own = ClusterStatus(home: "", programs: [ProgramStatus(name: "gateway", kind: .own, address: "", state: .ready, pid: getpid())])
            #expect(Self.wrong(doctor.ports(of: file, own)).isEmpty)
        }
    }

    @Test("settings that a program refuses, and those that are not there")
    func settings() throws {
        try withHome { home in
            let bin = home.root.appendingPathComponent("bin")
            try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
            #expect(try Self.doctor(home).settings().allSatisfy { $0.verdict == .note })
            for service in ClusterService.allCases {
                let program = bin.appendingPathComponent(service.rawValue)
                let refusal = service == .gateway ? "echo \"$2: gateway.listen must be an address\" >&2; exit 1" : "exit 0"
                try Data("#!/bin/sh\n\(refusal)\n".utf8).write(to: program)
                #expect(chmod(program.path, 0o755) == 0)
                try Data("{}".utf8).write(to: home.settings(of: service))
            }
            let findings = try Self.doctor(home).settings()
            #expect(Self.wrong(findings) == ["\(home.settings(of: .gateway).path): gateway.listen must be an address"])
            #expect(findings.first?.advice?.contains("Services/Gateway/README.md") == true)
        }
    }

    @Test("sign-ins that begin at one host and end at another")
    func signIns() throws {
        try withHome { home in
            let doctor = try Self.doctor(home)
            #expect(doctor.signIns().isEmpty, "no settings are there")
            try SettingsWriter(home: home, ports: doctor.ports, checkout: Self.checkout, pki: LocalPki(folder: home.pki)).write()
            #expect(doctor.signIns().isEmpty, "\(doctor.signIns())")

            func change(_ service: ClusterService, _ changes: [String: Any]) throws {
                let file = home.settings(of: service)
                var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
                let own = try #require(settings[service.rawValue] as? [String: Any])
                settings[service.rawValue] = own.merging(changes) { $1 }
                try JSONSerialization.data(withJSONObject: settings).write(to: file)
            }
            try change(.gateway, ["publicOrigin": "https://tv.example"])
            var found = Self.wrong(doctor.signIns())
            #expect(found.count == 4 && found[0].hasPrefix("authentication.acsURL brings people back to http://127.0.0.1:"), "\(found)")
            #expect(
                found[2].hasPrefix("autosignin.callbackURL")
                    && found[3] == "authentication.activationOrigins lacks https://tv.example, where sign-ins of the gateway's own pages end")

            try change(
                .authentication,
                ["acsURL": "https://sp.tv.example/sp/saml/SAMLAssertionConsumer", "oauthCallbackURL": "https://sp.tv.example/adobe-services/oauth2"])
            try change(.autosignin, ["callbackURL": "https://SP.tv.example/apple/v1/callback"])
            try change(.gateway, ["signInOrigin": "https://sp.tv.example"])
            found = Self.wrong(doctor.signIns())
            #expect(found == ["authentication.activationOrigins lacks https://tv.example, where sign-ins of the gateway's own pages end"])
            try change(.authentication, ["activationOrigins": ["https://TV.example"]])
            #expect(doctor.signIns().isEmpty)
            try change(.gateway, ["hosts": [["name": "sp.tv.example"]]])
            #expect(Self.wrong(doctor.signIns()).first?.contains("lacks https://sp.tv.example, ") == true)
            try change(.gateway, ["hosts": [["name": "sp.tv.example", "origin": "https://tv.example"]]])
            #expect(doctor.signIns().isEmpty)
        }
    }

    @Test("a catalogue with mistakes, and programs with several versions of one")
    func catalogue() async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("doctor-\(UUID().uuidString)"))
        defer { try? FileManager.default.removeItem(at: home.root) }
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensureQuickly()
        let doctor = try Self.doctor(home)
        try SettingsWriter(home: home, ports: doctor.ports, checkout: Self.checkout, pki: pki).write()
        let valid = doctor.catalogueFile()
        #expect(valid.count == 1 && valid[0].verdict != .wrong && valid[0].area == .catalogue, "\(valid)")
        try Data(#"{"requestors": 1}"#.utf8).write(to: home.catalogue)
        #expect(Self.wrong(doctor.catalogueFile()).first?.contains("requestors") == true)

        let file = try ClusterAddresses(ports: doctor.ports).emptyFile(home: home, pki: pki)
        func status(_ versions: [UInt64?]) -> ClusterStatus {
            let programs = zip(["config", "gateway", "sandbox"], versions).map { name, version in
                ProgramStatus(name: name, kind: .own, address: "", state: .ready, catalogueVersion: version)
            }
            return ClusterStatus(home: "", programs: programs)
        }
        #expect(try await doctor.catalogueVersions(status([7, 7, nil]), file).map(\.verdict) == [.fine])
        #expect(try await doctor.catalogueVersions(status([7, 8, nil]), file).isEmpty, "they are asked once more, and nobody is there to answer")
        #expect(
            Self.wrong([Doctor.difference(status([7, 8, nil]))]) == ["programs work with several versions of the catalogue: config 7, gateway 8"])
    }

    @Test("programs that are away, of other versions, or with errors")
    func programs() throws {
        try withHome { home in
            let now = SystemClock().now()
            let doctor = try Self.doctor(home, now: now)
            var gateway = ProgramStatus(name: "gateway", kind: .own, address: "", state: .notReady, reasons: ["no catalogue"], version: "1")
            let config = ProgramStatus(name: "config", kind: .replaced, address: "", state: .notReady, reasons: ["away"], version: "2")
            let other = ProgramStatus(name: "authentication", kind: .own, address: "", state: .notRunning, version: "3")
            gateway.lastError = .init(time: Doctor.text(now - .seconds(60)), event: "x", fields: [:], line: "", text: "x y=1")
            let findings = doctor.programs(ClusterStatus(home: "", programs: [gateway, config, other]))
            #expect(Self.wrong(findings) == ["authentication does not run", "gateway is not ready: no catalogue", "config is not ready: away"])
            #expect(findings.contains { $0.verdict == .note && $0.what == "gateway logged an error: x y=1" })
            #expect(findings.contains { $0.verdict == .note && $0.what.hasPrefix("programs are of several versions: gateway 1, config 2") })
            #expect(findings.allSatisfy { $0.advice != nil })
        }
    }

    @Test("software statements that ended in the last week because another programmer has the id; none that somebody revoked")
    func endedStatements() {
        let now = SystemClock().now()
        func record(_ text: String, author: String = "time", action: String = "statements_revoked", days: Int = 1) -> [String: Any] {
            ["action": action, "author": author, "text": text, "createdAt": (now - .seconds(days * 86_400)).milliseconds]
        }
        let page: [String: Any] = [
            "records": [
                record("ops ended"), record("revoked", author: "olga"), record("older ended", days: 8), record("a rule", action: "degradation_ended"),
            ]
        ]
        let findings = Doctor.endedStatements(page, now: now)
        #expect(findings.map(\.what) == ["ops ended"] && findings.map(\.verdict) == [.note])
        #expect(Doctor.endedStatements([:], now: now).isEmpty)
    }

    @Test("findings are lines, and JSON")
    func output() throws {
        let diagnosis = Diagnosis(home: "/h", findings: [.fine(.disk, "room"), .wrong(.keys, "a\nb", advice: "do it")])
        #expect(!diagnosis.isWell)
        #expect(
            diagnosis.lines(Console(isStyled: false)) == [
                "  fine   disk          room", "  wrong  keys          a\n                      b", "                      -> do it",
            ])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(JsonOutput.text(diagnosis).utf8)) as? [String: Any])
        let findings = try #require(json["findings"] as? [[String: String]])
        #expect(json["isWell"] as? Bool == false && findings[1] == ["area": "keys", "verdict": "wrong", "what": "a\nb", "advice": "do it"])
    }
}

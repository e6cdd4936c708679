@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

/// Tapes of what goes to an upstream and back (bridge §15.4).
extension BridgeTests {
    /// `boxoffice upstream record` or `replay` while it runs.
    private final class Tool {
        private let process = Process()
        private let log = FileManager.default.temporaryDirectory.appendingPathComponent("tape-\(UUID().uuidString).log")
        private(set) var address = ""

        init(_ arguments: [String]) async throws {
            let cluster = try TestCluster.running()
            process.executableURL = cluster.starter.binaries.appendingPathComponent("boxoffice")
            process.arguments = ["upstream"] + arguments
            process.environment = ProcessInfo.processInfo.environment.merging(["BOXOFFICE_HOME": cluster.home.root.path]) { $1 }
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
            let output = try FileHandle(forWritingTo: log)
            (process.standardOutput, process.standardError, process.standardInput) = (output, output, FileHandle.nullDevice)
            try process.run()
            let (process, log) = (process, log)
            try await Condition.wait("it listens") { !process.isRunning || Self.address(in: log) != nil }
            address = Self.address(in: log) ?? ""
            try #require(process.isRunning && !address.isEmpty, "\(output)")
        }

        private static func address(in log: URL) -> String? {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            return text.firstMatch(of: /(http:\/\/127\.0\.0\.1:[0-9]+)(?:, without|","event")/).map { String($0.1) }
        }

        var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
        var port: String { String(address.split(separator: ":").last ?? "") }

        /// - Returns: How it ended.
        func stop() async throws -> Int32 {
            let process = process
            process.interrupt()
            try await Condition.wait("it has stopped") { !process.isRunning }
            return process.terminationStatus
        }

        deinit {
            if process.isRunning { process.terminate() }
            try? FileManager.default.removeItem(at: log)
        }
    }

    /// A sign-in, a play and a logout.
    /// - Parameter person: Signs in at the stand-in; `nil`: the browser is sent back at once.
    /// - Returns: The media token, and what the app learns of the person.
    private func journey(_ device: Device, through address: String, person: String?) async throws -> (media: String, attributes: [String]) {
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "CoastCable")
        let location = try #require(begun.header("location"), "\(begun.status) \(begun.text)")
        try #require(location.hasPrefix("\(address)/api/v2/authenticate/ACME1/"), "\(location)")
        let sent = try await device.cluster.exchange.send("GET", location)
        var back = sent
        if let person {
            let upstream = try StandInUpstream.running()
            #expect(sent.status == 307 && sent.header("location")?.hasPrefix(upstream.address) == true, "\(sent.status)")
            back = try await upstream.signIn(at: try #require(sent.header("location")), as: person)
        }
        #expect(back.status == 302, "\(back.status) \(back.text)")
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        #expect(try await device.checkAuthn() == 200)
        let token = try await device.authnToken()
        #expect(token.status == 200 && token.object["mvpd"] as? String == "CoastCable", "\(token.text)")
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let media = try await device.mediaToken("ACME1-NEWS")
        #expect(media.status == 200, "\(media.text)")
        let told = try await device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any] ?? [:]
        #expect(try await device.logout() == 204)
        #expect(try await device.checkAuthn() == 403)
        // Short ones are words that stand for other things, too.
        let attributes = told.values.compactMap { $0 as? String }.filter { $0.utf8.count >= 12 }
        return (try #require(media.object["serializedToken"] as? String), attributes)
    }

    private func list(_ cluster: TestCluster) throws -> Program {
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run(
            "/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "upstream", "import", "vendor", "--requestor", "ACME1"])
    }

    @Test("bridge B106: a recorded journey is replayed without the upstream for another device; the tape has no secret; an untaped call fails")
    func tapes() async throws {
        let upstream = try await upstream()
        let cluster = try TestCluster.running()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tapes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tape = folder.appendingPathComponent("journey.tape").path

        // The cluster has to know the recorder before anything is worth a tape.
        let first = try await Tool(["record", "vendor", "--to", folder.appendingPathComponent("first.tape").path])
        let olga = try await Administrator.fresh()
        try await Condition.wait("no logout of another device is to come", within: .seconds(30)) {
            let state = try await olga.send("GET", "/upstreams/vendor").object["state"] as? [String: Any]
            return state != nil && state?["openLogouts"] as? Int ?? 0 == 0
        }
        #expect(
            try await olga.change("/upstreams/vendor") { entry in
                entry["baseUrl"] = first.address
                entry["seconds"] = ["profileFresh": 600, "poll": 3]
            }.status == 200)
        try await olga.push("Through a recorder")
        try await Condition.wait("calls go through the recorder", within: .seconds(15)) {
            let device = try await Device.make()
            return try await device.authenticate(try await device.code(), mvpd: "CoastCable").header("location")?.hasPrefix(first.address) == true
        }
        #expect(try await first.stop() == 0, "\(first.output)")

        try await upstream.forgetCalls()
        let recorded = try await Device.make()
        let recorder = try await Tool(["record", "vendor", "--to", tape, "--port", first.port, "--base-url", upstream.address])
        #expect(recorder.address == first.address)
        #expect(try list(cluster).status == 0)
        let (media, attributes) = try await journey(recorded, through: recorder.address, person: "ada")
        #expect(attributes.count >= 3, "\(attributes)")
        #expect(try await recorder.stop() == 0, "\(recorder.output)")
        #expect(try Program.run("/bin/sh", ["-c", "stat -c %a \(tape)"]).output == "600\n")

        let text = try String(contentsOfFile: tape, encoding: .utf8)
        let secrets = try await secrets(upstream, recorded, media).union(attributes)
        #expect(secrets.count >= 12, "\(secrets)")
        for secret in secrets { #expect(!text.contains(secret), "\(secret) is on the tape") }

        try await upstream.goAway()
        let replay = try await Tool(["replay", tape, "--port", first.port])
        let fresh = try await Device.make()
        let (replayed, pseudonyms) = try await journey(fresh, through: replay.address, person: nil)
        #expect(!pseudonyms.isEmpty && pseudonyms.allSatisfy { $0.contains("TAPE") }, "\(pseudonyms)")
        #expect(replayed != media && replayed.contains("TAPEmedia"), "\(replayed)")
        #expect(try await replay.stop() == 0, "\(replay.output)")

        let second = try await Tool(["replay", tape, "--port", first.port, "--json"])
        let untaped = try await cluster.exchange.send("GET", "\(second.address)/api/v2/ACME1/profiles/HillTel")
        #expect(untaped.status == 501 && untaped.object["code"] as? String == "not_on_tape", "\(untaped.text)")
        let other = try await Device.make()
        let begun = try await other.authenticate(try await other.code(), mvpd: "HillTel")
        #expect(begun.status == 503, "\(begun.status) \(begun.text)")
        #expect(try await second.stop() == 1, "\(second.output)")
        #expect(second.output.contains("not on the tape: POST /api/v2/ACME1/sessions") && !second.output.contains(other.id), "\(second.output)")

        try await upstream.comeBack()
        #expect(
            try await olga.change("/upstreams/vendor") { entry in
                entry["baseUrl"] = upstream.address
                entry["seconds"] = ["profileFresh": 10, "poll": 3]
            }.status == 200)
        try await olga.push("Straight to the upstream")
        try await Condition.wait("calls go to the upstream", within: .seconds(30)) {
            let device = try await Device.make()
            return try await device.authenticate(try await device.code(), mvpd: "CoastCable").header("location")?.hasPrefix(upstream.address) == true
        }
    }

    /// The secrets that the stand-in saw and gave out.
    private func secrets(_ upstream: StandInUpstream, _ device: Device, _ media: String) async throws -> Set<String> {
        var secrets: Set<String> = [device.id, Data(device.id.utf8).base64EncodedString(), media, try await upstream.statement(), "/bridge/return/"]
        for entry in try await upstream.entries() {
            if let bearer = entry.headers["authorization"]?.split(separator: " ").last { secrets.insert(String(bearer)) }
            if let address = entry.headers["x-forwarded-for"] { secrets.insert(address) }
            if entry.operation == "profileByCode" { secrets.insert(String(try #require(entry.path.split(separator: "/").last))) }
            guard entry.operation == "token" else { continue }
            for field in entry.body.split(separator: "&") where field.hasPrefix("client_") {
                secrets.insert(String(try #require(field.split(separator: "=").last)))
            }
        }
        let token = Data(base64Encoded: media).map { String(decoding: $0, as: UTF8.self) } ?? ""
        secrets.insert(String(try #require(token.firstMatch(of: /<sessionGUID>([^<]*)</)?.1)))
        return secrets
    }
}

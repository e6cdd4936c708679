@testable import AdministrationCommands
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Every attack that the sandbox's evil mode knows, over HTTP against the real programs (mvpd §5 item 5, §7).
@Suite("Attacks on the sign-in", .serialized, .cluster)
struct AttackTests {
    /// One attack, the reason codes of mvpd §7 that it may be refused with, and the case's number.
    struct Case: CustomTestStringConvertible, Sendable {
        let number: Int
        let attack: String
        let reasons: [String]
        var mvpd = "NorthCable"

        init(_ number: Int, _ attack: String, _ reasons: String..., at mvpd: String = "NorthCable") {
            (self.number, self.attack, self.reasons, self.mvpd) = (number, attack, reasons, mvpd)
        }

        var testDescription: String { "mvpd #\(number): \(attack)" }
    }

    static let signatures = [
        Case(21, "xsw1", "xsw.position", "xsw.sigposition", "xml.dupid"), Case(22, "xsw2", "xsw.position", "xsw.sigposition", "xml.dupid"),
        Case(23, "xsw3", "xsw.position"), Case(24, "xsw4", "xsw.position"), Case(25, "xsw5", "xsw.position", "xml.dupid"),
        Case(26, "xsw6", "xsw.position", "xml.dupid"), Case(27, "xsw7", "xsw.position"), Case(28, "xsw8", "xsw.position", "sig.object"),
        Case(29, "unsigned", "sig.missing"), Case(30, "emptySignature", "sig.invalid"), Case(31, "noReference", "sig.reference"),
        Case(32, "twoReferences", "sig.reference"), Case(33, "emptyReference", "sig.reference"), Case(34, "foreignReference", "sig.reference"),
        Case(35, "xpointerReference", "sig.reference"), Case(36, "httpReference", "sig.reference"), Case(36, "fileReference", "sig.reference"),
        Case(37, "repeatedID", "xml.dupid"), Case(38, "otherIDs", "xml.dupid"), Case(40, "strangersKey", "sig.invalid"),
        Case(41, "hmac", "sig.alg"), Case(42, "noAlgorithm", "sig.alg"), Case(43, "sha1", "sig.alg"), Case(43, "md5", "sig.alg"),
        Case(44, "xslt", "sig.transform"), Case(45, "xpath", "sig.transform"), Case(46, "comments", "sig.transform"),
        Case(47, "furtherTransform", "sig.transform"), Case(48, "relativeNamespace", "sig.invalid"), Case(49, "object", "sig.object"),
        Case(49, "manifest", "sig.object"), Case(51, "changedOctet", "sig.invalid"),
        Case(15, "cdata", "sig.invalid"),
    ]

    static let xml = [
        Case(53, "fileEntity", "xml.dtd"), Case(54, "httpEntity", "xml.dtd"), Case(55, "parameterEntity", "xml.dtd"),
        Case(56, "manyEntities", "xml.dtd"), Case(57, "otherEncoding", "xml.form", "xml.dtd"), Case(58, "depth", "xml.limit"),
        Case(59, "size", "bind.size"), Case(60, "comment", "xml.form"), Case(61, "processingInstruction", "xml.form"),
        Case(62, "unboundPrefix", "xml.form"),
        Case(62, "repeatedAttribute", "xml.form"), Case(62, "brokenText", "xml.form"), Case(62, "trailingData", "xml.form"),
        Case(64, "urlSafeBase64", "bind.base64"), Case(64, "brokenBase64", "bind.base64"),
    ]

    static let protocolViolations = [
        Case(65, "expired", "time"), Case(65, "notYetValid", "time"), Case(66, "noConfirmationEnd", "confirm"),
        Case(66, "confirmationBegins", "confirm"),
        Case(67, "foreignRecipient", "confirm"), Case(68, "foreignAudience", "audience"), Case(68, "noAudience", "audience"),
        Case(68, "secondAudience", "audience"), Case(69, "foreignDestination", "resp.destination"), Case(70, "unsolicited", "unsolicited"),
        Case(70, "foreignRequest", "resp.request"), Case(70, "stale", "resp.stale"), Case(75, "foreignIssuer", "issuer"),
        Case(76, "holderOfKey", "confirm"), Case(77, "unknownCondition", "condition"), Case(26, "foreignNameFormat", "subject.format"),
        Case(78, "withoutAssertion", "sig.missing", "assert.form"), Case(112, "futureSignIn", "authn"), Case(78, "noStatement", "authn"),
    ]

    static let encrypted = [
        Case(79, "rsa15", "enc.alg", at: "LakeTel"), Case(79, "changedKey", "enc.failed", at: "LakeTel"),
        Case(79, "changedCiphertext", "enc.failed", at: "LakeTel"),
    ]

    @Test("mvpd #21-#51: attacks on the signature end on the page of 400, without session", arguments: signatures)
    func signature(attack: Case) async throws { try await play(attack) }

    @Test("mvpd #53-#64: attacks on the parser end on the page of 400, without session", arguments: xml)
    func parser(attack: Case) async throws { try await play(attack) }

    @Test("mvpd #65-#78: well signed and yet wrong ends on the page of 400, without session", arguments: protocolViolations)
    func violation(attack: Case) async throws { try await play(attack) }

    @Test("mvpd #79: attacks on the encryption look all the same from outside", arguments: encrypted)
    func encryption(attack: Case) async throws { try await play(attack) }

    @Test(
        "mvpd #50, #78: an unsigned status may refuse the sign-in, and never makes a session", arguments: ["unsignedStatus", "failureWithAssertion"])
    func statuses(attack: String) async throws {
        let (answer, device) = try await attacked(by: attack, "NorthCable")
        #expect(answer.status == 400 || answer.status == 302)
        #expect(try await device.checkAuthn() == 403)
    }

    /// Signs in while the MVPD attacks, and asks the administration API why that failed.
    private func play(_ attack: Case) async throws {
        let before = try await SandboxControl.running().visits(attack.mvpd)
        let (answer, device) = try await attacked(by: attack.attack, attack.mvpd)
        #expect(answer.status == 400, "\(answer.status)")
        #expect(answer.header("content-type")?.hasPrefix("text/html") == true)
        #expect(!attack.reasons.contains { answer.text.contains($0) }, "the page tells an attacker nothing")
        #expect(try await device.checkAuthn() == 403)
        #expect(try await SandboxControl.running().visits(attack.mvpd) == before, "nobody follows an address out of a message")
        let trace = try #require(answer.text.firstMatch(of: /[0-9a-f]{32}/)).output
        let report = try await RunningCluster.of(TestCluster.running()).report(trace: String(trace))
        #expect(report.result == "rejected" && attack.reasons.contains(report.reason ?? ""), "\(report.reason ?? "no reason")")
        // Those that can be made beside the first that failed are made too; the first one is the reason.
        let failed = try #require(report.checks.first { $0.outcome == "failed" })
        #expect(failed.reason.map { attack.reasons.contains($0) } ?? true, "\(failed.reason ?? "no reason")")
    }

    private func attacked(by attack: String, _ mvpd: String) async throws -> (answer: HTTPAnswer, device: Device) {
        let device = try await Device.make()
        let code = try await device.code()
        var browser = Browser(exchange: device.cluster.exchange)
        let login = try await browser.openLogin(device, code: code, mvpd: mvpd)
        try await SandboxControl.running().beEvil(attack, mvpd)
        let page = try await browser.answer(login, name: "ada")
        return (try await browser.submit(page), device)
    }

    @Test("metrics say of each MVPD how many sign-ins began and how they and its decisions ended")
    func countsByMvpd() async throws {
        let before = try await Self.counts(.authentication, "boxoffice_authentication_mvpd_sign_ins_total")
        #expect(try await attacked(by: "strangersKey", "NorthCable").answer.status == 400)
        let device = try await Device.make()
        #expect(try await Browser.signIn(device, at: "NorthCable") == 302)
        let after = try await Self.counts(.authentication, "boxoffice_authentication_mvpd_sign_ins_total")
        for (result, least) in [("begun", 2.0), ("bad", 1), ("good", 1)] {
            #expect(after[result, default: 0] >= before[result, default: 0] + least, "\(result): \(before), then \(after)")
        }
        let decisions = try await Self.counts(.authorization, "boxoffice_authorization_mvpd_decisions_total")
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let decided = try await Self.counts(.authorization, "boxoffice_authorization_mvpd_decisions_total")
        #expect(decided["good", default: 0] >= decisions["good", default: 0] + 1, "\(decisions), then \(decided)")
    }

    /// By result, of NorthCable.
    private static func counts(_ service: ClusterService, _ metric: String) async throws -> [String: Double] {
        let cluster = try TestCluster.running()
        let answer = try await cluster.exchange.send("GET", "http://\(ClusterAddresses(ports: cluster.ports).debug(service))/metrics")
        var counts: [String: Double] = [:]
        for line in answer.text.matches(of: /\n([a-z_]+){mvpd="NorthCable",result="([a-z]+)"} ([0-9.]+)/) where line.1 == metric {
            counts[String(line.2)] = Double(line.3)
        }
        return counts
    }

    @Test("the sandbox knows no attack that is not played here, and is genuine again after each")
    func everyAttack() async throws {
        let played = Set((Self.signatures + Self.xml + Self.protocolViolations + Self.encrypted).map(\.attack))
        let known = try await SandboxControl.running().attacks()
        #expect(Set(known).subtracting(played).sorted() == ["failureWithAssertion", "unsignedStatus"])
        for mvpd in ["NorthCable", "LakeTel"] {
            let device = try await Device.make()
            #expect(try await Browser.signIn(device, at: mvpd) == 302)
            #expect(try await device.checkAuthn() == 200)
        }
    }
}

extension Browser {
    fileprivate static func signIn(_ device: Device, at mvpd: String) async throws -> Int {
        var browser = Browser(exchange: device.cluster.exchange)
        return try await browser.signIn(device, code: try await device.code(), mvpd: mvpd).status
    }
}

extension RunningCluster {
    static func of(_ cluster: TestCluster) throws -> RunningCluster {
        RunningCluster(exchange: cluster.exchange, cluster: try #require(try ClusterFile.read(cluster.home)))
    }
}

extension SandboxControl {
    /// The MVPD's next answer is that attack.
    func beEvil(_ attack: String, _ mvpd: String) async throws {
        let url = "\(ClusterAddresses(ports: cluster.ports).sandbox)/control/evil/\(mvpd)"
        let answer = try await cluster.exchange.send(
            "POST", url, headers: [("Content-Type", "application/json")], body: #"{"attack": "\#(attack)"}"#)
        try #require(answer.status == 204, "\(answer.text)")
    }

    fileprivate func attacks() async throws -> [String] {
        let answer = try await cluster.exchange.send("GET", "\(ClusterAddresses(ports: cluster.ports).sandbox)/control/evil")
        return try #require(answer.object["attacks"] as? [String])
    }

    /// The number of requests for the address in hostile references and entities, not counting the logins themselves.
    fileprivate func visits(_ mvpd: String) async throws -> Int {
        let answer = try await cluster.exchange.send("GET", "\(ClusterAddresses(ports: cluster.ports).sandbox)/control/log")
        return (answer.object["counters"] as? [String: Int])?["metadata/\(mvpd)"] ?? 0
    }
}

import Clocks
import SamlProfile
import SamlSigner
import Testing

/// The explanation of a response for engineers (mvpd §2.3).
struct ExplanationTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    private func explain(_ xml: String, _ expected: ExpectedResponse? = nil, at now: Timestamp = World.now) throws -> ResponseExplanation {
        let response = try UnverifiedResponse(encoded: base64(xml))
        return ResponseVerifier().explain(response, expecting: try expected ?? world.expected(), at: now).explanation
    }

    /// Everything that is shown.
    private func text(_ explanation: ResponseExplanation) -> String {
        let steps = explanation.steps.map { "\($0.check.step) \($0.outcome) \($0.reason) \($0.explanation) \($0.hint)" }
        return (steps + explanation.facts.map { "\($0.name): \($0.value)" }).joined(separator: "\n")
    }

    @Test("every check of a genuine response is told, in order; what there was nothing for is marked")
    func genuine() throws {
        let explanation = try explain(try world.response())
        #expect(explanation.steps.map(\.check.step) == Array(1...32))
        #expect(explanation.failure == nil)
        let others = explanation.steps.filter { $0.outcome != .passed }.map { "\($0.check) \($0.outcome)" }
        #expect(others == ["decryption notNeeded", "replay notChecked"])
        let shown = explanation.facts.map { "\($0.name): \($0.value)" }
        #expect(shown.contains("audience: \(ResponseTemplate.serviceProvider)"))
        #expect(shown.contains("attribute: householdID: 1 value [hidden]"))
    }

    @Test("a failure says what to change, and leaves the checks that do not stand on it as they are")
    func foreignAudience() throws {
        let explanation = try explain(try world.assertion { $0.audiences = [["https://other.example"]] })
        let failure = try #require(explanation.failure)
        #expect(failure.check == .audience && failure.reason == "audience")
        #expect(failure.hint.hasPrefix("Audience names https://other.example, we are https://saml.sp.pass.example"))
        let later = explanation.steps.filter { $0.check.step > failure.check.step }
        #expect(later.map(\.outcome) == [.passed, .notReached, .passed])
        #expect(later[1].explanation == "not checked because check 29 failed: we are the audience")
    }

    private func failures(_ explanation: ResponseExplanation) -> [Check] { explanation.steps.filter { $0.outcome == .failed }.map(\.check) }

    @Test("all checks that fail are told, each with its reason and with what helps")
    func allFailures() throws {
        let xml = try world.response { template in
            template.destination = "https://elsewhere.example"
            template.inResponseTo = "_other"
            var assertion = AssertionTemplate()
            assertion.audiences = [["https://other.example"]]
            assertion.issuer = "https://evil.example"
            template.assertion = assertion
        }
        let explanation = try explain(xml, try world.expected { $0.guidAttributeName = "uid" })
        #expect(failures(explanation) == [.destination, .inResponseTo, .assertionIssuer, .audience, .attributes])
        let failed = explanation.steps.filter { $0.outcome == .failed }
        #expect(failed.map(\.reason) == ["resp.destination", "resp.request", "issuer", "audience", "subject.missing"])
        #expect(failed.allSatisfy { !$0.explanation.isEmpty && !$0.hint.isEmpty })
        #expect(try world.outcome(xml) == "resp.destination")
    }

    @Test("what stands on a failed check is left out and says on which; what a bad signature covers is read with that word")
    func dependentChecks() throws {
        let stranger = try explain(try strangersResponse())
        #expect(failures(stranger) == [.signature])
        #expect(stranger.steps[Check.digestedOctets.step - 1].explanation == "not checked because check 16 failed: \(Check.signature.title)")
        let audience = stranger.steps[Check.audience.step - 1]
        #expect(audience.outcome == .passed && audience.explanation.contains("signature was not accepted"))
        let weak = try explain(case: "sha1")
        #expect(failures(weak) == [.algorithms])
        #expect(weak.steps[Check.pinnedKey.step - 1].outcome == .notReached && weak.steps[Check.signature.step - 1].outcome == .notReached)
        let unreadable = try explain(case: "doctype")
        #expect(failures(unreadable) == [.form])
        #expect(unreadable.steps.filter { $0.check.step > Check.form.step }.allSatisfy { $0.outcome == .notReached && !$0.explanation.isEmpty })
        let unsigned = try explain(case: "unsigned")
        #expect(failures(unsigned) == [.signaturePolicy] && unsigned.steps[Check.signature.step - 1].outcome == .notNeeded)
    }

    @Test("an assertion in an answer that fails before is not decrypted to explain it")
    func noOracle() throws {
        let assertion = try Signer.sign(AssertionTemplate().xml, signatureOf: "Assertion", with: world.identityProvider)
        let xml = try world.response { $0.content = (try? Encrypter().encrypt(assertion, for: world.serviceProvider)) ?? "" }
        let expected = try world.expected {
            $0.decryptionKeys = [try DecryptionKey(pem: world.serviceProvider.privateKeyPEM)]
            $0.signaturePolicy = .response
        }
        let explanation = try explain(xml, expected)
        #expect(explanation.steps[Check.decryption.step - 1].outcome == .notReached)
        #expect(explanation.steps[Check.audience.step - 1].explanation.hasPrefix("not checked because check 18"))
        #expect(!explanation.facts.contains { $0.name == "audience" })
    }

    @Test("the MVPD's own words about its status are shown, fit for a terminal")
    func statusMessage() throws {
        let status = "<samlp:StatusMessage>unknown SP\u{E9}</samlp:StatusMessage></samlp:Status>"
        let xml = try world.response {
            $0.assertion = nil
            $0.status = ["Responder"].map { "urn:oasis:names:tc:SAML:2.0:status:\($0)" }
        }
        let changed = try Markup(xml).replacing("</samlp:Status>", with: status).text
        let explanation = try explain(changed)
        #expect(explanation.facts.contains { $0.name == "the MVPD's message" && $0.value == "unknown SP?" })
        #expect(explanation.steps[Check.attributes.step - 1].explanation.hasPrefix("not checked because check 23"))
    }

    @Test(
        "each failure comes with the word that helps",
        arguments: [
            ("destination", "Destination is https://elsewhere.example; our address is"), ("issuer", "Issuer is https://evil.example"),
            ("format", "nameid-format:emailAddress"), ("recipient", "Recipient is https://elsewhere.example"),
            ("unsolicited", "IdP-initiated"), ("request", "InResponseTo is _other; our request was"), ("expired", "Compare the clocks"),
            ("unsigned", "Signed: nothing"), ("stranger", "another certificate than the 1 pinned"), ("changed", "The content is not what was signed"),
            ("sha1", "rsa-sha1"), ("policy", "signaturePolicy is response"), ("status", "this is no fault of the connection"),
            ("encryption", "demands encrypted assertions"), ("user", "The user id is to come from the attribute uid; sent are householdID"),
            ("doctype", "must not send a document type"),
        ])
    func hints(name: String, words: String) throws {
        let failure = try #require(try explain(case: name).failure)
        #expect(failure.hint.contains(words), "\(failure)")
    }

    @Test("nothing personal is shown, whatever fails, and nothing that a terminal obeys")
    func personalData() throws {
        let names = [
            "destination", "issuer", "format", "recipient", "unsolicited", "request", "expired", "unsigned", "stranger", "changed", "policy",
            "status",
            "encryption", "user", "genuine",
        ]
        for name in names {
            let shown = text(try explain(case: name))
            #expect(!shown.contains("k3Yq-0091") && !shown.contains("house-7"), "\(name)")
        }
        let hostile = try world.assertion { $0.audiences = [["a\u{9B}31m\u{E9}" + String(repeating: "x", count: 500)]] }
        let shown = text(try explain(hostile))
        #expect(shown.contains("a?31m?xxx") && shown.allSatisfy { $0.isASCII && ($0 == "\n" || $0 >= " ") })
        #expect(!shown.contains(String(repeating: "x", count: 300)))
    }

    @Test("an encrypted assertion is explained as far as it could be read")
    func encrypted() throws {
        let assertion = try Signer.sign(AssertionTemplate().xml, signatureOf: "Assertion", with: world.identityProvider)
        let xml = try world.response { $0.content = (try? Encrypter().encrypt(assertion, for: world.serviceProvider)) ?? "" }
        let readable = try world.expected { $0.decryptionKeys = [try DecryptionKey(pem: world.serviceProvider.privateKeyPEM)] }
        let opened = try explain(xml, readable)
        #expect(opened.failure == nil && opened.steps[Check.decryption.step - 1].outcome == .passed)
        #expect(opened.facts.contains { $0.name == "audience" })
        let closed = try explain(xml)
        #expect(closed.failure?.check == .decryption && closed.failure?.reason == "enc.failed")
        #expect(!closed.facts.contains { $0.name == "audience" })
    }

    private func explain(case name: String) throws -> ResponseExplanation {
        switch name {
        case "destination": try explain(try world.response { $0.destination = "https://elsewhere.example" })
        case "issuer": try explain(try world.assertion { $0.issuer = "https://evil.example" })
        case "format":
            try explain(try world.assertion { $0.nameIDAttributes = #"Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress""# })
        case "recipient": try explain(try world.assertion { $0.confirmations[0].recipient = "https://elsewhere.example" })
        case "unsolicited": try explain(try world.response { $0.inResponseTo = nil })
        case "request": try explain(try world.response { $0.inResponseTo = "_other" })
        case "expired": try explain(try world.response(), at: World.now + .seconds(7200))
        case "unsigned": try explain(Markup(try world.response()).removing(try Markup(world.response()).element("ds:Signature")).text)
        case "stranger": try explain(try strangersResponse())
        case "changed": try explain(Markup(try world.response()).replacing("k3Yq-0091", with: "k3Yq-0092").text)
        case "sha1": try explain(try world.assertion { $0.signature?.method = "http://www.w3.org/2000/09/xmldsig#rsa-sha1" })
        case "policy": try explain(try world.response(), try world.expected { $0.signaturePolicy = .response })
        case "status":
            try explain(
                try world.response {
                    $0.assertion = nil
                    $0.signature = SignatureTemplate()
                    $0.status = ["Responder", "AuthnFailed"].map { "urn:oasis:names:tc:SAML:2.0:status:\($0)" }
                })
        case "encryption": try explain(try world.response(), try world.expected { $0.encryption = .required })
        case "user": try explain(try world.response(), try world.expected { $0.guidAttributeName = "uid" })
        case "doctype": try explain("<!DOCTYPE a>" + (try world.response()))
        default: try explain(try world.response())
        }
    }

    private func strangersResponse() throws -> String {
        var template = ResponseTemplate()
        let certificate = world.stranger.certificatePEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        template.assertion?.signature?.tail =
            "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>\(certificate)</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
        return try template.signed(by: world.stranger)
    }
}

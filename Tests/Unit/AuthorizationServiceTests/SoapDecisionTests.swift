import AuthorizationService
import Clocks
import Contracts
import Doubles
import Faults
import SamlSigner
import Testing

/// The SOAP form (mvpd §4.1, §4.2) through the whole service; answers are signed by another program.
@Suite struct SoapDecisionTests {
    private static let serviceProvider = Result { try SignerIdentity(commonName: "sp.pass.example") }
    private static let stranger = Result { try SignerIdentity(commonName: "pdp.cable.example") }

    /// An MVPD with a SAML sign-in and a decision point that uses SOAP.
    static func fixture(_ configure: (inout Mvpd) -> Void = { _ in }) throws -> AuthorizationFixture {
        let certificate = try SoapAnswer.identity.get().certificateDER
        let key = try serviceProvider.get()
        let identity = try DecisionIdentity(entityID: SoapAnswer.serviceProvider, key: key.privateKeyPEM, certificate: key.certificateDER)
        return try AuthorizationFixture(identity: identity) { configuration in
            configuration.mvpds[0].signIn = .saml(SamlEndpoint(idpEntityID: SoapAnswer.issuer, signingCertificates: [certificate]))
            configuration.mvpds[0].authorization?.protocol = .xacmlSoap
            configure(&configuration.mvpds[0])
        }
    }

    private func outcome(
        _ answer: SoapAnswer, signedBy identity: SignerIdentity? = nil, _ configure: (inout Mvpd) -> Void = { _ in }
    ) async throws -> Fault? {
        let fixture = try Self.fixture(configure)
        fixture.transport.answer(try answer.text(signedBy: identity))
        let fault = await fault { try await fixture.authorize() }
        #expect((fault == nil) == (fixture.store.count == 1))
        return fault
    }

    @Test("mvpd §4.1: the query is signed, names its destination and speaks for the requestor; each value goes out under its name")
    func sendsASignedQuery() async throws {
        let fixture = try Self.fixture()
        fixture.transport.answer(try SoapAnswer().text())
        _ = try await fixture.authorize()
        let message = try #require(fixture.transport.messages.first)
        #expect(message.headers.contains { $0.name == "soapaction" && $0.value == "\"http://www.oasis-open.org/committees/security\"" })
        let body = String(decoding: message.body ?? [], as: UTF8.self)
        #expect(try Signer.verifies(body, with: Self.serviceProvider.get().certificatePEM))
        #expect(try !Signer.verifies(body.replacing("CHAN7-HD", with: "CHAN7-SD"), with: Self.serviceProvider.get().certificatePEM))
        let sent = try SentXml(body)
        #expect(sent.issuer == SoapAnswer.serviceProvider + "/on-behalf-of/CHAN7")
        let query = sent.elements["XACMLAuthzDecisionQuery"]
        #expect(query?["Destination"] == "https://pdp.cable.example/authz" && query?["CombinePolicies"] == "false")
        #expect(query?["IssueInstant"] == "2031-03-04T10:00:00.000Z" && query?["ID"]?.hasPrefix("_") == true)
        #expect(sent.attributes.map(\.category) == ["Subject", "Resource", "Action", "Environment"])
        #expect(sent.attributes.map(\.value) == ["subscriber-9", "CHAN7-HD", "VIEW", "203.0.113.9"])
        #expect(sent.attributes.map(\.identifier).first == "urn:oasis:names:tc:xacml:1.0:subject:subject-id")
    }

    @Test("mvpd §4.1: no two queries have the same ID; the issuer follows the sign-in's scoping and partner id")
    func followsTheSignInsScoping() async throws {
        let fixture = try Self.fixture()
        fixture.transport.answer(try SoapAnswer().text())
        _ = try await fixture.authorize()
        _ = await fault { try await fixture.authorize("other") }
        let ids = try fixture.transport.bodies.map { try SentXml($0).elements["XACMLAuthzDecisionQuery"]?["ID"] }
        #expect(Set(ids).count == 2)
        for (scoping, partner, issuer) in [
            (ScopingMode.issuerSuffix, "NEWS", "/on-behalf-of/NEWS"), (.both, "", "/on-behalf-of/CHAN7"), (.none, "", ""), (.requesterId, "X", ""),
        ] {
            let fixture = try Self.fixture {
                $0.signIn = .saml(SamlEndpoint(idpEntityID: SoapAnswer.issuer, scopingMode: scoping, partnerID: partner))
                $0.authorization?.signingCertificates = [(try? SoapAnswer.identity.get().certificateDER) ?? []]
            }
            fixture.transport.answer(try SoapAnswer { $0.audience = SoapAnswer.serviceProvider + issuer }.text())
            #expect(await fault { try await fixture.authorize() } == nil)
            #expect(try SentXml(try #require(fixture.transport.bodies.first)).issuer == SoapAnswer.serviceProvider + issuer)
        }
    }

    @Test("mvpd §4.2: a signed response, a signed assertion and both permit, where the endpoint demands them")
    func acceptsSignedAnswers() async throws {
        for (signature, response, assertion) in [
            (DecisionSignature.response, true, false), (.assertion, false, true), (.both, true, true), (.response, true, true), (.none, false, false),
            (.none, true, false),
        ] {
            let answer = SoapAnswer {
                $0.signsResponse = response
                $0.signsAssertion = assertion
            }
            #expect(try await outcome(answer) { $0.authorization?.answerSignature = signature } == nil, "\(signature)")
        }
    }

    @Test(
        "mvpd #100: a wrong issuer, a stale answer, an unsigned one, one for others or not for now",
        arguments: [
            SoapAnswer { $0.issuer = "https://idp.other.example/metadata" }, SoapAnswer { $0.assertionIssuer = "https://idp.other.example/metadata" },
            SoapAnswer { $0.issueInstant = "2031-03-04T09:53:00Z" }, SoapAnswer { $0.issueInstant = "2031-03-04T10:05:00Z" },
            SoapAnswer { $0.signsResponse = false },
            SoapAnswer {
                $0.signsResponse = false
                $0.signsAssertion = true
            },
            SoapAnswer { $0.audience = "https://saml.sp.pass.example/on-behalf-of/CHAN8" }, SoapAnswer { $0.audience = nil },
            SoapAnswer { $0.notOnOrAfter = "2031-03-04T09:58:00Z" }, SoapAnswer { $0.notBefore = "2031-03-04T10:02:00Z" },
            SoapAnswer { $0.inResponseTo = "_another" }, SoapAnswer { $0.status = "urn:oasis:names:tc:SAML:2.0:status:Responder" },
            SoapAnswer { $0.header = "<s:Header>" + SoapAnswer().assertion + "</s:Header>" },
            SoapAnswer { $0.tail = SoapAnswer().assertion.replacing("_decision-1", with: "_decision-2") },
        ])
    func refusesAnswersThatFailACheck(answer: SoapAnswer) async throws {
        #expect(try await outcome(answer)?.code == .networkReceivedError)
    }

    @Test("mvpd §4.2: the record may say how old an answer may be, and how far clocks may differ")
    func takesTimesFromTheRecord() async throws {
        let old = SoapAnswer { $0.issueInstant = "2031-03-04T09:53:00Z" }
        #expect(try await outcome(old) { $0.authorization?.maxResponseAgeSeconds = 600 } == nil)
        let recent = SoapAnswer { $0.issueInstant = "2031-03-04T09:58:00Z" }
        #expect(try await outcome(recent) == nil)
        #expect(try await outcome(recent) { $0.authorization?.maxResponseAgeSeconds = 30 }?.code == .networkReceivedError)
        let early = SoapAnswer { $0.issueInstant = "2031-03-04T10:02:00Z" }
        #expect(try await outcome(early)?.code == .networkReceivedError)
        #expect(try await outcome(early) { $0.authorization?.clockSkewSeconds = 180 } == nil)
    }

    @Test("mvpd #100: another's signature, a changed answer, a missing InResponseTo where it is demanded")
    func refusesForeignAndChangedAnswers() async throws {
        #expect(try await outcome(SoapAnswer(), signedBy: try Self.stranger.get())?.code == .networkReceivedError)
        #expect(try await outcome(SoapAnswer()) { $0.authorization?.requireInResponseTo = true }?.code == .networkReceivedError)
        let denied = try SoapAnswer { $0.result = XacmlXml.result("Deny", resource: "CHAN7-HD") }.text()
        let fixture = try Self.fixture()
        fixture.transport.answer(denied.replacing(">Deny<", with: ">Permit<"))
        #expect(await fault { try await fixture.authorize() }?.code == .networkReceivedError)
        fixture.transport.answer(denied)
        #expect(await fault { try await fixture.authorize() }?.code == .authorizationDeniedByMvpd)
    }

    @Test("mvpd §4.2: a demanded InResponseTo names the query that was asked")
    func matchesInResponseTo() async throws {
        let fixture = try Self.fixture { $0.authorization?.requireInResponseTo = true }
        fixture.transport.answer { body in
            let id = (try? SentXml(body).elements["XACMLAuthzDecisionQuery"]?["ID"]) ?? nil
            return (try? SoapAnswer { $0.inResponseTo = id }.text()) ?? ""
        }
        _ = try await fixture.authorize()
    }

    @Test(
        "mvpd §4.2: a fault, another message, none, several, a document type, bare results",
        arguments: [
            SoapAnswer.envelope("<s:Fault><faultcode>s:Server</faultcode><faultstring>no</faultstring></s:Fault>"), SoapAnswer.envelope(""),
            SoapAnswer.envelope("<a/><a/>"), "<a/>", "", "{}", XacmlXml.response(XacmlXml.result("Permit", resource: "CHAN7-HD")),
            "<!DOCTYPE a><a/>",
        ])
    func refusesOtherMessages(answer: String) async throws {
        let fixture = try Self.fixture { $0.authorization?.answerSignature = .none }
        fixture.transport.answer(answer)
        #expect(await fault { try await fixture.authorize() }?.code == .networkReceivedError)
    }

    @Test("mvpd #100: unsigned content beside a signed assertion decides nothing")
    func readsVerifiedContentOnly() async throws {
        let fixture = try Self.fixture { $0.authorization?.answerSignature = .assertion }
        let signed = try SoapAnswer {
            $0.signsResponse = false
            $0.signsAssertion = true
            $0.result = XacmlXml.result("Deny", resource: "CHAN7-HD")
        }.text()
        let forged = SoapAnswer { $0.signsResponse = false }.assertion.replacing("_decision-1", with: "_decision-2")
        for place in ["<saml:Assertion ", "</samlp:Response>"] {
            fixture.transport.answer(signed.replacing(place, with: forged + place, maxReplacements: 1))
            #expect(await fault { try await fixture.authorize() }?.code == .networkReceivedError)
        }
        // The signed assertion inside the forged one.
        let start = try #require(signed.range(of: "<saml:Assertion ")), end = try #require(signed.range(of: "</saml:Assertion>"))
        let genuine = String(signed[start.lowerBound..<end.upperBound])
        fixture.transport.answer(signed.replacing(genuine, with: forged.replacing("</saml:Assertion>", with: genuine + "</saml:Assertion>")))
        #expect(await fault { try await fixture.authorize() }?.code == .networkReceivedError)
    }

    @Test("mvpd §4.1: an MVPD behind a proxy answers under its own id; the header that is configured carries it")
    func asksThroughAProxy() async throws {
        func proxied(_ mvpd: inout Mvpd) {
            mvpd.isProxied = true
            mvpd.providerID = "tinycable"
            mvpd.authorization?.proxiedMvpdHeader = "X-Provider"
        }
        for issuer in ["tinycable", "DemoCable"] {
            let answer = SoapAnswer {
                $0.issuer = issuer
                $0.assertionIssuer = issuer
            }
            #expect(try await outcome(answer, proxied) == nil)
        }
        #expect(try await outcome(SoapAnswer(), proxied)?.code == .networkReceivedError)
        let fixture = try Self.fixture(proxied)
        _ = await fault { try await fixture.authorize() }
        #expect(fixture.transport.messages.first?.headers.contains { $0.name == "X-Provider" && $0.value == "tinycable" } == true)
    }

    @Test("mvpd §4.2: where the record names the issuer of decisions, nobody else's count: not that of the sign-in, nor a proxy's")
    func knowsTheRecordsIssuer() async throws {
        func answer(by issuer: String) -> SoapAnswer {
            SoapAnswer {
                $0.issuer = issuer
                $0.assertionIssuer = issuer
            }
        }
        let own = "https://pdp.cable.example/decisions"
        for isProxied in [false, true] {
            func named(_ mvpd: inout Mvpd) {
                (mvpd.isProxied, mvpd.providerID) = (isProxied, "tinycable")
                mvpd.authorization?.issuer = own
            }
            #expect(try await outcome(answer(by: own), named) == nil)
            for other in [SoapAnswer.issuer, "tinycable", "DemoCable", own + "/"] {
                #expect(try await outcome(answer(by: other), named)?.code == .networkReceivedError, "\(other)")
            }
        }
        #expect(try await outcome(answer(by: own))?.code == .networkReceivedError, "the record names none")
    }

    @Test("mvpd #94: re-authz, then the assertion's end where the record says so, then authzTtl; never beyond the session; none is a failure")
    func takesTheTtlFromItsSources() async throws {
        let reauthorize = XacmlXml.obligation(Xacml.reauthorize, on: "Permit", (Xacml.reauthorize, "90"))
        let obliged = SoapAnswer { $0.result = XacmlXml.result("Permit", resource: "CHAN7-HD", obligations: reauthorize) }
        #expect(try await lifetime(obliged) { $0.authzTtlFromMvpd = true } == 90)
        #expect(try await lifetime(SoapAnswer()) { $0.authzTtlFromMvpd = true } == 600)
        #expect(try await lifetime(SoapAnswer { $0.notOnOrAfter = nil }) { $0.authzTtlFromMvpd = true } == 3600)
        #expect(try await lifetime(SoapAnswer()) { _ in } == 3600)
        #expect(try await lifetime(SoapAnswer(), sessionEndsAfter: .seconds(300)) { $0.authzTtlFromMvpd = true } == 300)
        #expect(try await lifetime(SoapAnswer()) { $0.authzTtlSeconds = 0 } == nil)
        // Within the allowed difference of clocks, but over.
        #expect(try await lifetime(SoapAnswer { $0.notOnOrAfter = "2031-03-04T09:59:30Z" }) { $0.authzTtlFromMvpd = true } == nil)
    }

    /// Seconds of the permit; `nil` for `network_received_error`.
    private func lifetime(
        _ answer: SoapAnswer, sessionEndsAfter session: Duration = .seconds(86_400), _ configure: (inout Mvpd) -> Void
    ) async throws -> Int64? {
        let fixture = try Self.fixture(configure)
        fixture.signIn(lifetime: session)
        fixture.transport.answer(try answer.text())
        do {
            let decision = try await fixture.authorize()
            return (Int64(decision.expiresAtMilliseconds) - fixture.clock.now().milliseconds) / 1000
        } catch {
            #expect(Fault.unexpected(error).code == .networkReceivedError)
            return nil
        }
    }

    @Test("mvpd §4.1: without a key of the service nothing is asked that has to be signed, and without its name nothing at all")
    func needsAnIdentity() async throws {
        for (entity, authentication, isAsked) in [
            (SoapAnswer.serviceProvider, QueryAuthentication.standard, false), ("", .none, false), (SoapAnswer.serviceProvider, .none, true),
        ] {
            let fixture = try AuthorizationFixture(identity: DecisionIdentity(entityID: entity)) {
                $0.mvpds[0].authorization?.protocol = .xacmlSoap
                $0.mvpds[0].authorization?.queryAuthentication = authentication
            }
            #expect(await fault { try await fixture.authorize() }?.code == (isAsked ? Fault.Code.networkReceivedError : .internal))
            #expect(fixture.transport.requestCount == (isAsked ? 1 : 0))
        }
    }

    @Test("mvpd #105, #106: one query with several resources; results are matched by their ids")
    func asksAboutSeveral() async throws {
        let fixture = try Self.fixture()
        fixture.transport.answer(
            try SoapAnswer { $0.result = XacmlXml.result("Deny", resource: "C") + XacmlXml.result("Permit", resource: "A") }.text())
        let reply = try await fixture.preauthorize("A,B,C")
        #expect(reply.resources.map(\.authorized) == [true, false, false])
        #expect(reply.resources.map { $0.refusal?.code } == [nil, "network_received_error", "preauthorization_denied_by_mvpd"])
        #expect(fixture.transport.requestCount == 1)
        #expect(try SentXml(try #require(fixture.transport.bodies.first)).values("Resource") == ["A", "B", "C"])
    }
}

internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleConnectTests {
    private static let good = String(repeating: "ab", count: 32)

    let console = ConsoleFixture(.operator)

    init() {
        console.gateway.administration.reviewProviderMetadata.answer(
            with: ProviderMetadata(
                entityID: "https://idp.example/<b>", displayName: "New & Cable",
                endpoints: [ProviderEndpoint(service: "SingleSignOnService", binding: "urn:x:HTTP-Redirect", location: "https://idp.example/sso")],
                certificates: [
                    ProviderCertificate(sha256: Self.good, subject: "CN=idp", notAfterMilliseconds: 1_930_384_800_000, signs: true),
                    ProviderCertificate(sha256: String(repeating: "cd", count: 32), subject: "CN=old", signs: true, problem: "is expired"),
                ], nameIDFormats: ["urn:oasis:names:tc:SAML:2.0:nameid-format:transient"],
                warnings: [FieldProblem(field: "NameIDFormat", message: "is transient")]))
    }

    @Test("metadata is looked at first: what it says, what is doubtful, and fingerprints to compare")
    func previews() async throws {
        let page = try await console.post("/connect", "id=NewCable&metadata=%3Cxml%2F%3E")
        #expect(page.status == 200 && page.text.contains("https://idp.example/&lt;b&gt;") && page.text.contains("NameIDFormat is transient"))
        #expect(page.text.contains("abababab abababab") && page.text.contains("CN=old</bdi>: is expired"))
        #expect(page.text.contains(#"name="displayName" type="text" value="New &amp; Cable""#) && page.text.contains("&lt;xml/&gt;</textarea>"))
        #expect(!page.text.contains(#"value="\#(String(repeating: "cd", count: 32))""#))
        #expect(console.gateway.administration.importProviderMetadata.requests.isEmpty)
        #expect(try await console.post("/connect", "id=&metadata=").status == 422)
    }

    @Test("an address is fetched once: what came is what is confirmed; a discovery document becomes JSON to complete")
    func fetches() async throws {
        let administration = console.gateway.administration
        administration.reviewProviderMetadata.answer(with: ProviderMetadata(entityID: "https://idp.example", document: "<fetched/>"))
        let page = try await console.post("/connect", "id=NewCable&metadata=&address=https%3A%2F%2Fidp.example%2Fmd")
        #expect(page.status == 200 && page.text.contains("&lt;fetched/&gt;</textarea>") && page.text.contains("/console/connect/take"))
        let request = try #require(administration.reviewProviderMetadata.requests.last)
        #expect(request.address == "https://idp.example/md" && request.document.isEmpty)
        administration.reviewProviderMetadata.answer(
            with: ProviderMetadata(entityID: "https://id.example", entryJson: #"{"oauth":{"issuer":"https://id.example"}}"#))
        let oauth = try await console.post("/connect", "id=NewFiber&metadata=&address=https%3A%2F%2Fid.example%2F.well-known%2Fopenid-configuration")
        #expect(oauth.status == 200 && oauth.text.contains(#"action="/console/new/mvpds""#) && oauth.text.contains("&quot;NewFiber&quot;"))
        #expect(oauth.text.contains("clientSecretReference") && !oauth.text.contains("/console/connect/take"))
        administration.reviewProviderMetadata.answer(
            with: ProviderMetadata(problems: [FieldProblem(field: "address", message: "leads to 'localhost', which is this machine")]))
        let refused = try await console.post("/connect", "id=NewCable&metadata=&address=https%3A%2F%2Flocalhost%2F")
        #expect(refused.text.contains("address leads to &#39;localhost&#39;") && refused.text.contains(#"value="https://localhost/""#))
    }

    @Test("a certificate that nobody has confirmed is not trusted; what is typed stays")
    func confirms() async throws {
        let fields =
            "id=NewCable&metadata=%3Cxml%2F%3E&displayName=New&days=7&decisionHours=1&decisions=xacmlJson&decisionUrl=https%3A%2F%2Fpdp.example%2F"
        let refused = try await console.post("/connect/take", fields)
        #expect(refused.status == 422 && refused.text.contains("Confirm at least one certificate") && refused.text.contains(#"value="7""#))
        console.gateway.administration.importProviderMetadata.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let taken = try await console.post("/connect/take", fields + "&fingerprint=" + Self.good + "&userIdAttribute=uid")
        #expect(taken.status == 303 && taken.location == "/console/mvpds/NewCable?saved=1")
        let request = try #require(console.gateway.administration.importProviderMetadata.requests.last)
        #expect(request.fingerprints == [Self.good] && request.document == "<xml/>" && request.ifMatch.isEmpty)
        #expect(
            request.entryJson
                == #"{"authnTtl":604800,"authorization":{"protocol":"xacmlJson","url":"https://pdp.example/"},"authzTtl":3600,"displayName":"New","#
                + #""saml":{"attributeMap":[{"source":"uid","target":"userID"}],"guidAttributeName":"uid"}}"#)
        let duplicate = Refusal(reason: .duplicate, message: "There is an MVPD 'NewCable' already.")
        console.gateway.administration.importProviderMetadata.answer(with: EntityOutcome(outcome: .refusal(duplicate)))
        let again = try await console.post("/connect/take", fields + "&fingerprint=" + Self.good)
        #expect(again.status == 409 && again.text.contains("NewCable&#39; already"))
    }

    @Test("a certificate that is not valid today takes a second tick, which goes along with its fingerprint alone")
    func confirmsExpired() async throws {
        let administration = console.gateway.administration
        let warning = "(CN=idp) is expired since 2026-10-30: ask the MVPD"
        administration.reviewProviderMetadata.answer(
            with: ProviderMetadata(
                entityID: "https://idp.example",
                certificates: [ProviderCertificate(sha256: Self.good, subject: "CN=idp", notAfterMilliseconds: 1, signs: true, warning: warning)]))
        let page = try await console.post("/connect", "id=NewCable&metadata=%3Cxml%2F%3E")
        #expect(page.text.contains(#"name="confirmExpired" value="\#(Self.good)""#))
        let fields = "id=NewCable&metadata=%3Cxml%2F%3E&displayName=New&days=7&decisionHours=1&decisions=none"
        let refused = try await console.post("/connect/take", fields + "&fingerprint=" + Self.good)
        #expect(refused.status == 422 && refused.text.contains("is expired since 2026-10-30"))
        #expect(administration.importProviderMetadata.requests.isEmpty)
        administration.importProviderMetadata.answer(with: EntityOutcome(outcome: .changed(EntityChanged())))
        let other = String(repeating: "ee", count: 32)
        let taken = try await console.post("/connect/take", fields + "&fingerprint=\(Self.good)&confirmExpired=\(Self.good)&confirmExpired=\(other)")
        #expect(taken.status == 303)
        #expect(administration.importProviderMetadata.requests.last?.confirmedCertificates == [Self.good])
    }

    @Test("metadata that cannot be used says why, and offers no way on")
    func refusesBadMetadata() async throws {
        console.gateway.administration.reviewProviderMetadata.answer(
            with: ProviderMetadata(problems: [FieldProblem(field: "metadata", message: "cannot be read.")]))
        let page = try await console.post("/connect", "id=NewCable&metadata=x")
        #expect(page.text.contains("metadata cannot be read.") && !page.text.contains("/console/connect/take"))
        let long = try await console.post("/connect", "id=NewCable&metadata=" + String(repeating: "x", count: 262_145))
        #expect(long.status == 422 && long.text.contains("longer than 256 KiB"))
        let larger = try await console.post("/connect", "id=NewCable&metadata=" + String(repeating: "x", count: 2_100_000))
        #expect(larger.status == 413 && larger.isHTML)
    }
}

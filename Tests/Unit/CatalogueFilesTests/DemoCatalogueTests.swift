import Catalogue
import CatalogueSamples
import Contracts
import Cryptography
import Foundation
import Testing
import Tokens

@Suite("Demo catalogue")
struct DemoCatalogueTests {
    /// It costs a tenth of a second.
    private static let identityKey = Result { try RSAPrivateKey.generate() }

    private func demo() throws -> Configuration {
        let world = try CatalogueFolder()
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Services/Config/demo-catalogue.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        try world.write(text.replacingOccurrences(of: "${SANDBOX_MVPD}", with: "http://127.0.0.1:8090"), to: "catalogue.json")
        for name in ["sandbox-northcable", "sandbox-laketel", "programmer-acme", "programmer-bravo"] {
            try world.write(try CatalogueFolder.certificate(), to: "pki/\(name).crt")
        }
        let key = JSONWebKey(.rsa(try Self.identityKey.get().publicKey))
        try world.write(JSONWebKeySet(keys: [key]).json, to: "pki/platform-identity.jwks")
        return try world.file.read(now: CatalogueFolder.now).configuration
    }

    @Test("has the programmers, requestors and channels that examples speak of")
    func requestors() throws {
        let demo = try demo()
        #expect(demo.programmers.map(\.id) == ["acme", "bravo"])
        #expect(demo.requestors.map(\.id) == ["ACME1", "ACME2", "BRAVO"])
        #expect(demo.requestors.map(\.programmerID) == ["acme", "acme", "bravo"])
        #expect(demo.requestors.flatMap { $0.domains.map(\.name) } == ["acme.example", "acme-two.example", "bravo.example"])
        #expect(demo.requestors.map(\.enhancedErrors) == [false, false, true])
        #expect(demo.requestors.flatMap(\.channels) == ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS", "ACME2-MOVIES"])
    }

    @Test("believes the sandbox's platform identities")
    func identityIssuers() throws {
        #expect(try demo().platformIdentityIssuers.map(\.issuer) == ["https://platform.sandbox.example"])
        let services = try demo().serviceTokenIssuers
        #expect(services.map(\.issuer) == ["https://identity.sandbox.example"] && services.map(\.programmerIDs) == [["acme"]])
    }

    @Test("NorthCable: SAML by redirect, Apple SUPPORTED, integrated with all")
    func northCable() throws {
        let demo = try demo()
        let mvpd = try #require(demo.mvpds.first { $0.id == "NorthCable" })
        guard case .saml(let saml) = mvpd.signIn else { throw NotSaml() }
        #expect(saml.idpEntityID == "http://127.0.0.1:8090/saml/NorthCable/metadata")
        #expect(saml.ssoURL == "http://127.0.0.1:8090/saml/NorthCable/sso")
        #expect(saml.requestBinding == .redirect)
        #expect(saml.signaturePolicy == .assertion)
        #expect(saml.encryption == .optional)
        #expect(mvpd.authorization?.protocol == .xacmlJson)
        #expect(mvpd.authorization?.url == "http://127.0.0.1:8090/pdp/NorthCable")
        #expect(mvpd.platforms.allSatisfy { $0.boardingStatus == .supported && $0.platformMappingID == "north-cable" })
        #expect(mvpd.platforms.allSatisfy { $0.requiredMetadataFields == ["userID", "householdID"] })
        let integrations = demo.integrations.filter { $0.mvpdID == "NorthCable" }
        #expect(integrations.map(\.requestorID) == ["ACME1", "ACME2", "BRAVO"])
        #expect(integrations.allSatisfy { $0.enabled && $0.autoSignIn })
    }

    @Test("LakeTel: SAML by POST with signed response and encrypted assertion, Apple PICKER")
    func lakeTel() throws {
        let mvpd = try #require(try demo().mvpds.first { $0.id == "LakeTel" })
        guard case .saml(let saml) = mvpd.signIn else { throw NotSaml() }
        #expect(saml.requestBinding == .post)
        #expect(saml.signaturePolicy == .response)
        #expect(saml.encryption == .required)
        #expect(mvpd.platforms.allSatisfy { $0.boardingStatus == .picker && $0.platformMappingID == "lake-tel" })
    }

    @Test("OAuth, parked and TempPass providers are there for the flows that need them")
    func otherProviders() throws {
        let demo = try demo()
        let signIns = Dictionary(uniqueKeysWithValues: demo.mvpds.map { ($0.id, $0.signIn) })
        guard case .oauth = signIns["OpenFiber"], case .tempPass(let preview) = signIns["Preview10"], case .tempPass(let promo) = signIns["PromoVod"]
        else { throw NotSaml() }
        #expect(preview.kind == .basic && preview.ttlSeconds == 600)
        #expect(promo.kind == .promotional && promo.maxResources == 3)
        #expect(demo.integrations.filter { $0.mvpdID == "ParkedTV" }.map(\.enabled) == [false])
    }

    @Test("each programmer has a registered application")
    func applications() throws {
        let applications = try demo().applications
        #expect(applications.map(\.id) == ["acme-tv", "acme-ops", "acme-backend", "acme-legacy", "bravo-tv", "bravo-backend"])
        #expect(applications.map(\.requestorIDs) == Array(repeating: ["ACME1", "ACME2"], count: 4) + [["BRAVO"], ["BRAVO"]])
        let (tv, legacy) = (["api:client:v1", "api:client:v2"], ["api:client:v1"])
        let (ops, backend) = (["decisions:owner", "temporary:passes:owner", "analytics:client"], ["autosignin:owner", "api:client:v2"])
        #expect(applications.map(\.scopes) == [tv, ops, backend, legacy, tv, backend] && applications.allSatisfy { $0.platforms.count == 8 })
        #expect(applications.filter(\.ssoIssuer).map(\.id) == ["acme-backend", "bravo-backend"])
    }

    @Test("each programmer has a team at Apple, and Automatic Sign-In is on for NorthCable alone")
    func apple() throws {
        let demo = try demo()
        #expect(demo.programmers.flatMap(\.appleTeams).map(\.teamID) == ["ACMETEAM01", "BRAVOTEAM1"])
        let catalogue = Catalogue(demo)
        let web = try #require(catalogue.appleApp("example.acme.web"))
        #expect(web.programmer == "acme" && web.group.id == "example.acme.tv" && !web.isNative)
        #expect(web.team.signInKeyReference == "apple-acme-sign-in.key" && web.team.purchaseKeyReference == "apple-acme-purchase.key")
        #expect(catalogue.appleApp("example.acme.radio")?.group.id == "example.acme.radio")
        #expect(catalogue.appleApp("example.bravo.tv")?.programmer == "bravo")
        #expect(Set(demo.integrations.filter(\.autoSignIn).map(\.mvpdID)) == ["NorthCable"])
        #expect(demo.integrations.filter(\.autoSignIn).count == demo.requestors.count)
    }

    private struct NotSaml: Error {}
}

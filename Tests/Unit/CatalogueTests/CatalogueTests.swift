import Catalogue
import Contracts
import Faults
import Testing

@Suite("Catalogue")
struct CatalogueTests {
    private let catalogue = Catalogue(
        Configuration(
            version: 3,
            requestors: [Requestor(id: "ACME1", mediaTokenTtlSeconds: 90), Requestor(id: "BRAVO")],
            mvpds: [Mvpd(id: "NorthCable", authnTtlSeconds: 500, hbaAuthnTtlSeconds: 50), Mvpd(id: "ParkedTV")],
            integrations: [
                Integration(requestorID: "ACME1", mvpdID: "NorthCable", enabled: true, authnTtlSeconds: 400, authzTtlSeconds: 40),
                Integration(requestorID: "ACME1", mvpdID: "ParkedTV"),
                Integration(requestorID: "BRAVO", mvpdID: "NorthCable", enabled: true),
                Integration(requestorID: "BRAVO", mvpdID: "Gone", enabled: true),
            ],
            applications: [Application(id: "acme-tv", softwareIDs: ["soft-1", "soft-2"])]))

    @Test("an integration that is switched off is there, but neither active nor usable")
    func disabledIntegration() throws {
        #expect(catalogue.integration(requestor: "ACME1", mvpd: "ParkedTV") != nil)
        #expect(catalogue.activeIntegrations(requestor: "ACME1").map(\.mvpd.id) == ["NorthCable"])
        let fault = #expect(throws: Fault.self) { try catalogue.requireIntegration(requestor: "ACME1", mvpd: "ParkedTV") }
        #expect(fault?.code == .unknownIntegration)
    }

    @Test("an integration whose MVPD is gone is not active")
    func danglingIntegration() {
        #expect(catalogue.activeIntegrations(requestor: "BRAVO").map(\.mvpd.id) == ["NorthCable"])
        #expect(throws: Fault.self) { try catalogue.requireIntegration(requestor: "BRAVO", mvpd: "Gone") }
    }

    @Test("an unknown or absent requestor is refused as such", arguments: ["", "NOBODY", "acme1"])
    func unknownRequestor(id: String) {
        let fault = #expect(throws: Fault.self) { try catalogue.requireRequestor(id) }
        #expect(fault?.code == .invalidRequestor)
    }

    @Test("an application is found by each of its software ids")
    func findsApplication() {
        #expect(catalogue.application(softwareID: "soft-2")?.id == "acme-tv")
        #expect(catalogue.application(softwareID: "revoked") == nil)
    }

    @Test("mvpd §1.1: a lifetime is the integration's, else the MVPD's, else the deployment's")
    func resolvesLifetimes() throws {
        let acme = try catalogue.requireIntegration(requestor: "ACME1", mvpd: "NorthCable")
        let bravo = try catalogue.requireIntegration(requestor: "BRAVO", mvpd: "NorthCable")
        #expect(Catalogue.authnLifetime(acme.integration, acme.mvpd) == .seconds(400))
        #expect(Catalogue.authnLifetime(bravo.integration, bravo.mvpd) == .seconds(500))
        #expect(Catalogue.authzLifetime(acme.integration, acme.mvpd) == .seconds(40))
        #expect(Catalogue.authzLifetime(bravo.integration, bravo.mvpd) == .seconds(86_400))
        #expect(Catalogue.hbaAuthnLifetime(bravo.integration, bravo.mvpd) == .seconds(50))
        #expect(Catalogue.mediaTokenLifetime(try catalogue.requireRequestor("ACME1")) == .seconds(90))
        #expect(Catalogue.mediaTokenLifetime(try catalogue.requireRequestor("BRAVO")) == .seconds(420))
    }

    @Test(
        "rest-v1 §2.1: an origin that is any requestor's is what one of them covers",
        arguments: [
            ("https", "news.example", Int?.none), ("https", "login.news.example", nil), ("https", "a.b.NEWS.example".lowercased(), 443),
            ("https", "dev.example", 8443),
            ("http", "dev.example", 3000), ("http", "x.dev.example", nil), ("http", "news.example", nil), ("https", "news.example", 8443),
            ("https", "xnews.example", nil), ("https", "news.example.evil.example", nil), ("https", "example", nil), ("https", "", nil),
            ("https", ".", nil),
            ("ftp", "news.example", nil), ("https", "127.0.0.1", nil), ("https", "other.example", nil), ("https", "www.other.example", nil),
        ])
    func registersOrigins(scheme: String, host: String, port: Int?) {
        let requestors = [
            Requestor(id: "A", domains: [Domain(name: "News.example"), Domain(name: "dev.example", development: true), Domain(name: "")]),
            Requestor(id: "B", domains: [Domain(name: "other.example")]),
        ]
        let catalogue = Catalogue(Configuration(version: 1, requestors: requestors))
        let covers = requestors.contains { $0.domains.coverOrigin(scheme: scheme, host: host, port: port) }
        #expect(catalogue.registersOrigin(scheme: scheme, host: host, port: port) == covers)
    }

    @Test("a host that no name can be costs nothing")
    func longHosts() {
        let catalogue = Catalogue(Configuration(version: 1, requestors: [Requestor(id: "A", domains: [Domain(name: "news.example")])]))
        #expect(!catalogue.registersOrigin(scheme: "https", host: String(repeating: "a.", count: 4000) + "news.example", port: nil))
    }
}

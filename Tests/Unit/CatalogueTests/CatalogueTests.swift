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
}

import Contracts

enum SampleCatalogue {
    static let configuration = Configuration(
        version: 7, changedAtMilliseconds: 1_790_000_000_000, programmers: [Programmer(id: "acme", name: "Acme")],
        requestors: [Requestor(id: "ACME1", name: "Acme One", programmerID: "acme", domains: [Domain(name: "acme.example")])],
        mvpds: [
            Mvpd(id: "Preview10", signIn: .tempPass(TempPass(ttlSeconds: 600))),
            Mvpd(id: "NorthCable", displayName: "North Cable", signIn: .saml(SamlEndpoint(idpEntityID: "idp", ssoURL: "https://idp.example"))),
        ],
        integrations: [
            Integration(requestorID: "ACME1", mvpdID: "Preview10", enabled: true),
            Integration(requestorID: "ACME1", mvpdID: "NorthCable", enabled: true),
        ],
        applications: [Application(id: "acme-tv", name: "Acme TV", programmerID: "acme", requestorIDs: ["ACME1"], softwareIDs: ["acme-tv-1"])])
}

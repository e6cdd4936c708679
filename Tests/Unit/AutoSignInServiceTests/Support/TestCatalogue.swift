import Contracts

enum TestCatalogue {
    static let configuration = Configuration(
        version: 1,
        programmers: [
            Programmer(
                id: "acme",
                appleTeams: [
                    AppleTeam(
                        teamID: "ACMETEAM01", signInKeyID: "ACMESIGN01", signInKeyReference: "sign-in.key", issuerID: "issuer-1",
                        purchaseKeyID: "ACMEPURCH1", purchaseKeyReference: "purchase.key",
                        groups: [
                            AppleAppGroup(id: "tv.acme", bundleIDs: ["tv.acme", "tv.acme.sports"], servicesIDs: ["tv.acme.web"])
                        ])
                ]),
            Programmer(
                id: "bravo",
                appleTeams: [
                    AppleTeam(
                        teamID: "BRAVOTEAM1", issuerID: "issuer-2", purchaseKeyID: "BRAVOPURC1", purchaseKeyReference: "purchase.key",
                        groups: [AppleAppGroup(id: "tv.bravo", bundleIDs: ["tv.bravo"])])
                ]),
        ],
        requestors: [
            Requestor(id: "ACME1", programmerID: "acme"), Requestor(id: "ACME2", programmerID: "acme"),
            Requestor(id: "BRAVO", programmerID: "bravo"),
        ])
}

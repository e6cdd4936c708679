internal import Contracts
internal import StrictJson

/// A programmer's developer teams at Apple (apple §1.3, §2.4, §2.8).
///
/// The autosignin service says whether the key files are there: they lie with it.
extension CatalogueReading {
    func appleTeam(_ value: JsonValue) -> AppleTeam? {
        value.object { object in
            var team = AppleTeam()
            team.teamID = appleID("teamId", object, required: true)
            if !team.teamID.isEmpty, !appleTeams.insert(team.teamID).inserted {
                object.optional("teamId")?.problem("is '\(team.teamID)', which another one has")
            }
            readKeys(object, &team)
            team.groups = object.required("groups")?.array(appleGroup) ?? []
            if let groups = object.optional("groups"), groups.isArray, team.groups.isEmpty { groups.problem("must hold a group at least") }
            return team
        }
    }

    private func readKeys(_ object: JsonObject, _ team: inout AppleTeam) {
        team.signInKeyID = appleID("signInKeyId", object)
        team.signInKeyReference = keyReference("signInKeyReference", object)
        team.issuerID = issuerID(object)
        team.purchaseKeyID = appleID("purchaseKeyId", object)
        team.purchaseKeyReference = keyReference("purchaseKeyReference", object)
        let signIn = [team.signInKeyID, team.signInKeyReference]
        let purchase = [team.issuerID, team.purchaseKeyID, team.purchaseKeyReference]
        if signIn.contains("") != signIn.allSatisfy(\.isEmpty) {
            object.problem("must have both or none of signInKeyId and signInKeyReference")
        }
        if purchase.contains("") != purchase.allSatisfy(\.isEmpty) {
            object.problem("must have all or none of issuerId, purchaseKeyId and purchaseKeyReference")
        }
        if (signIn + purchase).allSatisfy(\.isEmpty) {
            object.problem("must have a sign-in key or a purchase key: without both it serves for nothing")
        }
    }

    private func appleGroup(_ value: JsonValue) -> AppleAppGroup? {
        value.object { object in
            var group = AppleAppGroup()
            group.id = object.text("id")
            group.bundleIDs = clientIDs("bundleIds", object, required: true)
            group.servicesIDs = clientIDs("servicesIds", object, required: false)
            if !group.id.isEmpty, !group.bundleIDs.contains(group.id) {
                object.optional("id")?.problem("is '\(group.id)', which is not among the bundleIds: a group has the id of its primary app")
            }
            return group
        }
    }

    /// Apple's answers and notifications name an app alone: it says which group, team and programmer they are about, so none occurs twice.
    private func clientIDs(_ name: String, _ object: JsonObject, required isRequired: Bool) -> [String] {
        guard let value = isRequired ? object.required(name) : object.optional(name) else { return [] }
        let ids = value.array { element -> String? in
            guard let id = element.string() else { return nil }
            if !CatalogueSyntax.isReverseDomainName(id) {
                element.problem("must be a reverse domain name of letters, digits and '-', such as 'example.acme.tv'; it is '\(id)'")
            } else if let place = appleClients[id] {
                element.problem(namesOthers ? "is '\(id)', which stands at \(place) already" : "is '\(id)', which is taken")
            } else {
                appleClients[id] = element.path
            }
            return id
        }
        if isRequired, ids.isEmpty, value.isArray { value.problem("must not be empty") }
        return ids
    }

    private func appleID(_ name: String, _ object: JsonObject, required isRequired: Bool = false) -> String {
        checked(name, object, required: isRequired, CatalogueSyntax.isAppleID) { "must be 10 upper-case letters and digits; it is '\($0)'" }
    }

    private func issuerID(_ object: JsonObject) -> String {
        checked("issuerId", object, CatalogueSyntax.isUUID) { "must be a UUID, as App Store Connect shows it; it is '\($0)'" }
    }

    private func keyReference(_ name: String, _ object: JsonObject) -> String {
        checked(name, object, CatalogueSyntax.isFileName) { _ in
            "must be the name of a key file, of letters, digits, '.', '_' and '-'; it is never a path, nor the key itself"
        }
    }

    /// An empty text is not as good as none.
    private func checked(
        _ name: String, _ object: JsonObject, required isRequired: Bool = false, _ fits: (String) -> Bool, _ problem: (String) -> String
    ) -> String {
        guard let value = isRequired ? object.required(name) : object.optional(name), let text = value.string() else { return "" }
        if !fits(text) { value.problem(problem(text)) }
        return text
    }
}

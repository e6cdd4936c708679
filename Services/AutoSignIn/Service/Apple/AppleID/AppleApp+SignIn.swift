internal import Catalogue
internal import Contracts
internal import Faults
internal import OutboundHttp

extension AppleApp {
    var teamID: AppleTeamID { AppleTeamID(team.teamID) }

    /// A web site rather than a native app.
    var isWeb: Bool { group.servicesIDs.contains(client.text) }

    /// Every client id that shares its consent (apple §2.8).
    var groupClients: [AppleClientID] { group.clients }
}

extension AppleAppGroup {
    var clients: [AppleClientID] { (bundleIDs + servicesIDs).map { AppleClientID($0) } }
}

extension Catalogue {
    /// - Throws: `client_unknown` when the programmer has no such native app, or its team offers no Sign in with Apple.
    func requireNativeApp(_ client: String, of programmer: ProgrammerID) throws(Fault) -> AppleApp {
        guard let app = nativeApp(AppleClientID(client), of: programmer), !app.team.signInKeyID.isEmpty else {
            throw Fault(.clientUnknown, "The programmer has no such app at Apple.")
        }
        return app
    }

    /// The first Services ID of the programmer.
    /// - Throws: `client_unknown` when there is none.
    func requireWebApp(of programmer: ProgrammerID) throws(Fault) -> AppleApp {
        for team in self.programmer(programmer)?.appleTeams ?? [] where !team.signInKeyID.isEmpty {
            for group in team.groups {
                if let client = group.servicesIDs.first { return AppleApp(team: team, group: group, client: AppleClientID(client)) }
            }
        }
        throw Fault(.clientUnknown, "The programmer has no web sign-in at Apple.")
    }

    /// The programmer of a client id: Apple's notifications name only their audience.
    func ownedApp(_ client: AppleClientID) -> (programmer: ProgrammerID, app: AppleApp)? {
        for programmer in configuration.programmers {
            let id = ProgrammerID(programmer.id)
            if let app = appleApp(client, of: id), !app.team.signInKeyID.isEmpty { return (id, app) }
        }
        return nil
    }

    /// A client id of a team; an empty one stands for the team's first.
    func app(_ client: AppleClientID, ofTeam team: AppleTeamID) -> (programmer: ProgrammerID, app: AppleApp)? {
        for programmer in configuration.programmers {
            for record in programmer.appleTeams where record.teamID == team.text && !record.signInKeyID.isEmpty {
                for group in record.groups {
                    guard let found = group.clients.first(where: { client.text.isEmpty || $0 == client }) else { continue }
                    return (ProgrammerID(programmer.id), AppleApp(team: record, group: group, client: found))
                }
            }
        }
        return nil
    }
}

/// Apple's refusals (apple §2.11).
enum AppleIDError: String, Sendable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"

    /// Only status 400 with a code of the table means one; everything else says nothing about the person.
    init?(_ answer: OutboundAnswer) {
        guard answer.status == 400, let code = JSONMembers(answer.body)?.string("error") else { return nil }
        self.init(rawValue: code)
    }

    /// A person cannot help it: an operator has to look.
    var isOurMistake: Bool { self != .invalidGrant }

    var fault: Fault {
        isOurMistake
            ? Fault(.appleRequestInvalid, "Apple refuses the request.", cause: AppleRejection(code: self))
            : Fault(.appleGrantInvalid, "Apple no longer accepts the sign-in; it has to be made anew.", cause: AppleRejection(code: self))
    }
}

/// For the log.
struct AppleRejection: Error, Sendable {
    let code: AppleIDError
}

extension Fault {
    static let appleIsAway = Fault.appleIsAway(after: .seconds(5))

    static func appleIsAway(after pause: Duration, cause: (any Error)? = nil) -> Fault {
        Fault(.appleUnavailable, "Apple does not answer.", retryAfter: pause, cause: cause)
    }
}

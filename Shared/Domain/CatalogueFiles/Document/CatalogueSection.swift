package import Contracts

/// The arrays of a catalogue document; the raw value is the array's name.
package enum CatalogueSection: String, CaseIterable, Sendable {
    case programmers, requestors, mvpds, integrations, applications, platformIdentityIssuers, serviceTokenIssuers, upstreams

    package init?(_ kind: EntityKind) {
        guard let section = Self.allCases.first(where: { $0.kind == kind }) else { return nil }
        self = section
    }

    package var kind: EntityKind {
        switch self {
        case .programmers: .programmer
        case .requestors: .requestor
        case .mvpds: .mvpd
        case .integrations: .integration
        case .applications: .application
        case .platformIdentityIssuers: .platformIdentityIssuer
        case .serviceTokenIssuers: .serviceTokenIssuer
        case .upstreams: .upstream
        }
    }

    /// The members of an entry that make its id.
    package var identity: [String] {
        switch self {
        case .programmers, .requestors, .mvpds, .applications, .upstreams: ["id"]
        case .integrations: ["requestor", "mvpd"]
        case .platformIdentityIssuers, .serviceTokenIssuers: ["issuer"]
        }
    }

    /// The word of people for one entry.
    package var noun: String {
        switch self {
        case .programmers: "programmer"
        case .requestors: "requestor"
        case .mvpds: "MVPD"
        case .integrations: "integration"
        case .applications: "application"
        case .platformIdentityIssuers: "platform identity issuer"
        case .serviceTokenIssuers: "service token issuer"
        case .upstreams: "upstream"
        }
    }

    /// True when a document without entries of the section has it nevertheless.
    package var isMandatory: Bool {
        switch self {
        case .programmers, .requestors, .mvpds, .integrations: true
        case .applications, .platformIdentityIssuers, .serviceTokenIssuers, .upstreams: false
        }
    }
}

/// What config.proto requires of a Config service, beside the wire.
enum ConfigRequirements {
    static let all: [Requirement] = snapshots + watches + updates + content + statements
}

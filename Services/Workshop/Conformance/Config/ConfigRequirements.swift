/// The requirements of config.proto for a Config service in addition to the wire protocol.
enum ConfigRequirements {
    static let all: [Requirement] = snapshots + watches + updates + content + statements + durable
}

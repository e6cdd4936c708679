/// What WIRE.md requires of every service.
enum WireRequirements {
    static let all: [Requirement] = connection + hello + frames + calls + failures + limits + streams + ends + platform
}

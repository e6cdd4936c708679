/// Why a store's file cannot be used; one line for the operator who starts the service.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    public let file: String
    public let reason: String

    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    public var description: String { "store \(file): \(reason)" }
}

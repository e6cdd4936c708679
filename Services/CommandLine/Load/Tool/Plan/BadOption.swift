/// An option that cannot be meant: which, and what to do.
public struct BadOption: Error, CustomStringConvertible, Equatable {
    public let description: String

    public init(_ option: String, _ advice: String) { description = "\(option): \(advice)" }
}

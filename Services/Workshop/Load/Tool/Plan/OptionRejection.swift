/// An option that is not valid: which one, and how to correct it.
public struct OptionRejection: Error, CustomStringConvertible, Equatable {
    public let description: String

    public init(_ option: String, _ advice: String) { description = "\(option): \(advice)" }
}

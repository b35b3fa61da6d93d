//! What there is.

use crate::builder::Builder;
use crate::quantise::{self, Quantise};
use crate::{Options, ZooError, cnn, language, nas, recurrent, vision};

/// An architecture of the zoo.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name for [`crate::build`].
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    pub(crate) write: fn(&mut Builder, &Options) -> Result<(), ZooError>,
    pub(crate) quantise: Option<Quantise>,
}

macro_rules! entries {
    ($($name:literal $about:literal $write:path $(=> $quantise:path)?,)*) => {
        &[$(Entry { name: $name, about: $about, write: $write, quantise: entries!(@ $($quantise)?) }),*]
    };
    (@) => { None };
    (@ $quantise:path) => { Some($quantise) };
}

/// All architectures, in order of name.
pub fn list() -> &'static [Entry] {
    entries! {
        "amoebanet-a" "AmoebaNet-A (4, 50) (Real et al. 2018)" nas::amoebanet::write,
        "bert-base" "BERT-base, uncased: encoder with pooler (Devlin et al. 2018)" language::bert::write,
        "bert-base-dynamic" "BERT-base, dynamically quantised: weights of 8 bits" language::bert::write => quantise::dynamic,
        "darts" "DARTS, second order, on ImageNet (Liu et al. 2018)" nas::darts::write,
        "densenet121" "DenseNet-121 (Huang et al. 2016)" cnn::densenet::write,
        "efficientnet-b0" "EfficientNet-B0 (Tan and Le 2019)" cnn::efficientnet::write,
        "gpt2" "GPT-2, 124M: prefill, gives logits and KV cache (Radford et al. 2019)" language::gpt2::prefill,
        "gpt2-decode" "GPT-2, 124M: a step of decoding, KV cache in and out" language::gpt2::decode,
        "hrnet-w18" "HRNet-W18 (Wang et al. 2019)" cnn::hrnet::write,
        "inception-v3" "Inception-v3 without auxiliary head (Szegedy et al. 2015)" cnn::inception::write,
        "llama" "SmolLM-135M: Llama with grouped-query attention, prefill (Touvron et al. 2023)" language::decoder::llama,
        "lstm" "LSTM language model, medium (Zaremba et al. 2014)" recurrent::lstm::write,
        "mobilenet-v2" "MobileNetV2, width 1.0 (Sandler et al. 2018)" cnn::mobilenet::write,
        "moe" "a small Mixtral: the 2 best of 8 experts, all run (Jiang et al. 2024)" language::decoder::mixtral,
        "nasnet-a-mobile" "NASNet-A (4 @ 1056) (Zoph et al. 2017)" nas::nasnet::write,
        "nasrnn" "the searched recurrent cell, unrolled (Zoph and Le 2016)" recurrent::nasrnn::write,
        "pnasnet5-large" "PNASNet-5 (4, 216) (Liu et al. 2017)" nas::pnasnet::write,
        "randwire-ba" "randomly wired, Barabasi-Albert(5), small regime (Xie et al. 2019)" nas::randwire::barabasi_albert,
        "randwire-er" "randomly wired, Erdos-Renyi(0.2), small regime (Xie et al. 2019)" nas::randwire::erdos_renyi,
        "randwire-ws" "randomly wired, Watts-Strogatz(4, 0.75), small regime (Xie et al. 2019)" nas::randwire::watts_strogatz,
        "resnet18" "ResNet-18 (He et al. 2015)" cnn::resnet::resnet18,
        "resnet50" "ResNet-50 v1.5 (He et al. 2015, stride in the 3x3)" cnn::resnet::resnet50,
        "resnet50-qdq" "ResNet-50 v1.5, statically quantised, in QDQ form" cnn::resnet::resnet50 => quantise::qdq,
        "resnext50" "ResNeXt-50 32x4d (Xie et al. 2016)" cnn::resnet::resnext50,
        "squeezenet" "SqueezeNet 1.0 (Iandola et al. 2016)" cnn::squeezenet::write,
        "swiftnet" "like SwiftNet: three irregular cells (Ahn et al. 2020 on Cheng et al. 2019)" nas::swiftnet::write,
        "swin-t" "Swin-T (Liu et al. 2021)" vision::swin::write,
        "t5-encoder" "T5-small, encoder (Raffel et al. 2019)" language::t5::write,
        "unet" "U-Net with batch norms, two classes (Ronneberger et al. 2015)" cnn::unet::write,
        "vgg16" "VGG-16 (Simonyan and Zisserman 2014)" cnn::vgg::vgg16,
        "vgg19" "VGG-19 (Simonyan and Zisserman 2014)" cnn::vgg::vgg19,
        "vit-b16" "ViT-B/16 (Dosovitskiy et al. 2020)" vision::vit::write,
        "whisper-encoder" "Whisper base, encoder (Radford et al. 2022)" language::whisper::write,
    }
}
